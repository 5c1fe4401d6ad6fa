/**
 * Whether the text is base64 with padding (line breaks are allowed), and how many bytes it holds. For invalid
 * text, counts the bytes that can be read from its beginning.
 */
export function base64Length(text: string): { valid: boolean; bytes: number } {
  let digits = 0;
  let padding = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x0a || code === 0x0d) continue;
    if (code === 0x3d) padding++;
    else if (padding === 0 && isDigit(code)) digits++;
    else return { valid: false, bytes: readable(digits) };
  }
  const valid =
    (digits + padding) % 4 === 0 && padding <= 2 && digits % 4 !== 1 && padding === missing(digits);
  return { valid, bytes: valid ? Math.floor((digits * 3) / 4) : readable(digits) };
}

function missing(digits: number): number {
  return (4 - (digits % 4)) % 4;
}

/** Whole groups of four only. */
function readable(digits: number): number {
  return Math.floor(digits / 4) * 3;
}

function isDigit(code: number): boolean {
  return (
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2b ||
    code === 0x2f
  );
}
