const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = new Map([...alphabet].map((letter, value) => [letter.charCodeAt(0), value]));
const padding = 0x3d;

/** What a string decodes to, or the first byte at which it stops being base64. */
export type Base64Result = { readonly bytes: Uint8Array } | { readonly fault: number };

/**
 * Decodes padded base64 (RFC 4648) and reports where a string fails. Line breaks are skipped
 * anywhere; other characters outside the alphabet, missing padding and text after it are faults.
 *
 * `Buffer.from(text, "base64")` accepts any string and drops what it does not know: user data cut
 * in two by a typo would reach the guest.
 */
export function decodeBase64(text: string): Base64Result {
  const input = new TextEncoder().encode(text);
  const bytes = new Uint8Array(Math.ceil((input.length * 3) / 4));
  let length = 0;
  let at = 0;
  for (;;) {
    const group = readGroup(input, at);
    if ("fault" in group) return group;
    for (const byte of group.bytes) bytes[length++] = byte;
    at = group.next;
    if (group.last) return { bytes: bytes.subarray(0, length) };
  }
}

type Group =
  | { readonly bytes: readonly number[]; readonly next: number; readonly last: boolean }
  | { readonly fault: number };

/** Reads four letters, or fewer and padding. */
function readGroup(input: Uint8Array, start: number): Group {
  const letters: number[] = [];
  let at = start;
  while (letters.length < 4) {
    const byte = input[at++];
    if (byte === undefined) {
      if (letters.length === 0) return { bytes: [], next: at, last: true };
      return { fault: input.length - letters.length };
    }
    const value = values.get(byte);
    if (value !== undefined) letters.push(value);
    else if (byte === padding) return readPadding(input, at, letters);
    else if (!isLineBreak(byte)) return { fault: at - 1 };
  }
  return { bytes: toBytes(letters), next: at, last: false };
}

/** Reads what follows the first padding letter, which stands before `start`. */
function readPadding(input: Uint8Array, start: number, letters: readonly number[]): Group {
  if (letters.length < 2) return { fault: start - 1 };
  let at = start;
  if (letters.length === 2) {
    at = skipLineBreaks(input, at);
    if (at === input.length) return { fault: at };
    if (input[at] !== padding) return { fault: at - 1 };
    at++;
  }
  at = skipLineBreaks(input, at);
  if (at < input.length) return { fault: at };
  return { bytes: toBytes(letters), next: at, last: true };
}

function toBytes(letters: readonly number[]): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = letters;
  const all = [(a << 2) | (b >> 4), ((b & 15) << 4) | (c >> 2), ((c & 3) << 6) | d];
  return all.slice(0, letters.length - 1);
}

function skipLineBreaks(input: Uint8Array, start: number): number {
  let at = start;
  while (isLineBreak(input[at])) at++;
  return at;
}

function isLineBreak(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d;
}
