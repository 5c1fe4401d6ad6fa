import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame, type Frame, FrameSplitter } from "./frame.ts";

/** Feeds bytes to a splitter, split at these sizes. */
function split(bytes: Buffer, sizes: readonly number[], limit = 1_000_000): Frame[] {
  const splitter = new FrameSplitter(limit);
  const frames: Frame[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    // A copy that is overwritten afterwards: no part of a chunk may be kept.
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    splitter.push(chunk, (frame) => frames.push(frame));
    chunk.fill(0xff);
    at += size;
  }
  return frames;
}

test("a frame is two lengths, JSON, and what belongs to it", () => {
  const frame = encodeFrame({ a: 1 }, Buffer.from([1, 2]));
  expect(frame.toString("hex")).toBe(
    `0000000d00000007${Buffer.from('{"a":1}').toString("hex")}0102`,
  );
  expect(split(frame, [])).toEqual([{ message: { a: 1 }, attachment: Buffer.from([1, 2]) }]);
});

test("the same frames come out, however the bytes are split", () => {
  const message = fc.jsonValue({ maxDepth: 2 }).map((value) => ({ value }));
  const frame = fc.tuple(message, fc.uint8Array({ maxLength: 40 }));
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60 }),
      (frames, sizes) => {
        const bytes = Buffer.concat(frames.map(([json, tail]) => encodeFrame(json, tail)));
        const expected = frames.map(([json, tail]) => ({
          message: JSON.parse(JSON.stringify(json)),
          attachment: Buffer.from(tail),
        }));
        expect(split(bytes, sizes)).toEqual(expected);
      },
    ),
  );
});

test("the time for a large frame that arrives byte by byte grows only with its size", () => {
  const bytes = encodeFrame({ text: "x".repeat(200_000) });
  expect(split(bytes, Array(bytes.length).fill(1))).toHaveLength(1);
});

test.each([
  ["a frame above the limit", "00000065"],
  ["the largest possible length", "ffffffff"],
  ["a frame that is too short for the length of its JSON", "00000003"],
  ["JSON that is longer than its frame", "0000000600000003aabb"],
  ["not JSON", "0000000600000002aabb"],
])("rejects %s", (_, hex) => {
  expect(() => split(Buffer.from(hex, "hex"), [], 100)).toThrow(
    expect.objectContaining({ code: "LAUNCHER_PROTOCOL" }),
  );
});

test("does not quote a message that is not JSON", () => {
  const secret = Buffer.from("hunter2");
  const frame = Buffer.concat([Buffer.from("0000000b00000007", "hex"), secret]);
  try {
    split(frame, []);
    expect.unreachable();
  } catch (error) {
    expect(String(error)).not.toContain("hunter");
    expect(String((error as Error).cause)).not.toContain("hunter");
  }
});

test("allows large attachments but no large JSON, which takes many times its size to parse", () => {
  const limit = 64 * 1024 * 1024;
  const large = 16 * 1024 * 1024 + 1;
  expect(split(encodeFrame({}, Buffer.alloc(large)), [], limit)).toHaveLength(1);
  const json = Buffer.alloc(8 + large, " ");
  json.writeUInt32BE(4 + large, 0);
  json.writeUInt32BE(large, 4);
  expect(() => split(json, [], limit)).toThrow(
    expect.objectContaining({ code: "LAUNCHER_PROTOCOL" }),
  );
});
