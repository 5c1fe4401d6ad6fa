/**
 * A text in UTF-8; a lone surrogate becomes U+FFFD, as everywhere in JSON.
 *
 * Implemented here because TextEncoder is not part of the language, and this package needs nothing else.
 */
export function utf8(input: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of input) {
    const code = scalar(character.codePointAt(0) ?? 0);
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(code, 0));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(code, 6), tail(code, 0));
    else bytes.push(0xf0 | (code >> 18), tail(code, 12), tail(code, 6), tail(code, 0));
  }
  return Uint8Array.from(bytes);
}

function tail(code: number, shift: number): number {
  return 0x80 | ((code >> shift) & 0x3f);
}

function scalar(code: number): number {
  return code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
}
