import { expect, test } from "vitest";
import { FrameEdges } from "./frame-edges.ts";

/** A frame of a server (or, masked, of a client) with so many bytes of payload. */
function frame(length: number, masked = false): Buffer {
  const mask = masked ? 0x80 : 0;
  const head =
    length < 126
      ? Buffer.from([0x82, mask | length])
      : length < 65_536
        ? Buffer.from([0x82, mask | 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([0x82, mask | 127]), bigLength(length)]);
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0), Buffer.alloc(length, 0x89)]);
}

function bigLength(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
}

test("finds the edges of frames, however the bytes are split", () => {
  const frames = [0, 1, 125, 126, 127, 65_535, 65_536, 3].flatMap((n) => [
    frame(n),
    frame(n, true),
  ]);
  const ends = new Set<number>();
  let total = 0;
  for (const each of frames) {
    total += each.length;
    ends.add(total);
  }
  const all = Buffer.concat(frames);
  for (const step of [1, 7, 1000, all.length]) {
    const edges = new FrameEdges();
    for (let at = 0; at < all.length; at += step) {
      edges.pass(all.subarray(at, at + step));
      expect(edges.atEdge).toBe(ends.has(Math.min(at + step, all.length)));
    }
  }
});
