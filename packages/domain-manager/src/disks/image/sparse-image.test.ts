import fc from "fast-check";
import { expect, test } from "vitest";
import { type Extent, imageBytes, joinedExtents } from "./sparse-image.ts";

test("joined extents are the same image in at most as many pieces", () => {
  const piece = fc.record({
    hole: fc.integer({ min: 0, max: 40_000 }),
    length: fc.integer({ min: 1, max: 500 }),
  });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      let offset = 0;
      const extents = pieces.map(({ hole, length }, at) => {
        const extent = { offset: offset + hole, bytes: new Uint8Array(length).fill(at + 1) };
        offset += hole + length;
        return extent;
      });
      const joined = joinedExtents(extents);
      const image = (list: readonly Extent[]) =>
        Buffer.from(imageBytes({ size: offset, extents: list }));
      expect(image(joined).equals(image(extents))).toBe(true);
      expect(joined.length).toBeLessThanOrEqual(extents.length);
    }),
    { numRuns: 50 },
  );
});

test("joins close pieces, but not distant or large ones", () => {
  const at = (offset: number, length = 1) => ({ offset, bytes: new Uint8Array(length) });
  expect(joinedExtents([at(0), at(100), at(16_000)])).toHaveLength(1);
  expect(joinedExtents([at(0), at(1 << 16)])).toHaveLength(2);
  expect(joinedExtents([at(0), at(1, 2 << 20)])).toHaveLength(2);
});
