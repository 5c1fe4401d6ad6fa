import { paddedWords } from "./sha256.ts";

/** SHA-1 of some bytes. Not for security: version 5 UUIDs are defined with it. */
export function sha1(bytes: Uint8Array): Uint8Array {
  const words = paddedWords(bytes);
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  for (let start = 0; start < words.length; start += 16) {
    compress(state, words.subarray(start, start + 16));
  }
  const digest = new DataView(new ArrayBuffer(20));
  for (const [i, value] of state.entries()) digest.setUint32(i * 4, value);
  return new Uint8Array(digest.buffer);
}

function compress(state: Uint32Array, block: Uint32Array): void {
  const schedule = new Uint32Array(80);
  schedule.set(block);
  const word = (index: number): number => schedule[index] ?? 0;
  for (let i = 16; i < 80; i++) {
    schedule[i] = rotate(word(i - 3) ^ word(i - 8) ^ word(i - 14) ^ word(i - 16), 1);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
  for (let i = 0; i < 80; i++) {
    const [mix, constant] = round(i, b, c, d);
    const next = (rotate(a, 5) + mix + e + constant + word(i)) >>> 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  for (const [i, add] of [a, b, c, d, e].entries()) state[i] = (state[i] ?? 0) + add;
}

function round(i: number, b: number, c: number, d: number): [mix: number, constant: number] {
  if (i < 20) return [(b & c) | (~b & d), 0x5a827999];
  if (i < 40) return [b ^ c ^ d, 0x6ed9eba1];
  if (i < 60) return [(b & c) | (b & d) | (c & d), 0x8f1bbcdc];
  return [b ^ c ^ d, 0xca62c1d6];
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
