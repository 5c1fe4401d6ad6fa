import { utf8 } from "./utf8.ts";

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
const roundConstants = new Uint32Array(fractions(64, Math.cbrt));
/** The same of the square roots of the first 8 primes (FIPS 180-4, 5.3.3). */
const initialState = fractions(8, Math.sqrt);

/**
 * SHA-256 of a string in UTF-8, in hexadecimal.
 *
 * Implemented here because names of Pod interfaces are derived from it, and browsers hash only asynchronously.
 */
export function sha256(input: string): string {
  const words = paddedWords(utf8(input));
  const state = Uint32Array.from(initialState);
  const schedule = new Uint32Array(64);
  for (let start = 0; start < words.length; start += 16) {
    extend(schedule, words.subarray(start, start + 16));
    compress(state, schedule);
  }
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("");
}

function extend(schedule: Uint32Array, block: Uint32Array): void {
  schedule.set(block);
  for (let i = 16; i < 64; i++) {
    const a = word(schedule, i - 15);
    const b = word(schedule, i - 2);
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    schedule[i] = word(schedule, i - 16) + s0 + word(schedule, i - 7) + s1;
  }
}

function compress(state: Uint32Array, schedule: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + word(roundConstants, i) + word(schedule, i)) >>> 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + t1) >>> 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + s0 + majority) >>> 0;
  }
  for (const [i, add] of [a, b, c, d, e, f, g, h].entries()) state[i] = word(state, i) + add;
}

/** The message, a one bit, zeros and the length in bits, as big-endian words in blocks of 16. */
export function paddedWords(bytes: Uint8Array): Uint32Array {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const padded = new Uint8Array(blocks * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, bytes.length << 3);
  return Uint32Array.from({ length: blocks * 16 }, (_, i) => view.getUint32(i * 4));
}

function word(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

function rotate(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits));
}

function fractions(count: number, root: (prime: number) => number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return primes.map((prime) => ((root(prime) % 1) * 0x100000000) >>> 0);
}
