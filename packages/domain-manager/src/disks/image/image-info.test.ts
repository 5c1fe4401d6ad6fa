import fc from "fast-check";
import { expect, test } from "vitest";
import { isDiskError } from "../disk-error.ts";
import { imageInfo } from "./image-info.ts";
import { qcow2Image } from "./qcow2-image.ts";

function qcow2(change: (header: Buffer) => void = () => {}): Buffer {
  const header = Buffer.from(qcow2Image(1n << 30n).extents[0]?.bytes.subarray(0, 512) ?? []);
  change(header);
  return header;
}

test("treats an image without a signature as raw, as large as its file", () => {
  expect(imageInfo(Buffer.alloc(512), 1024n, "x")).toEqual({ format: "raw", virtualSize: 1024n });
  expect(imageInfo(Buffer.alloc(0), 0n, "x")).toEqual({ format: "raw", virtualSize: 0n });
});

test("accepts features that leave the image self-contained", () => {
  const compressed = qcow2((header) => header.writeBigUInt64BE(1n | 8n | 16n, 72));
  expect(imageInfo(compressed, 0n, "x")).toEqual({ format: "qcow2", virtualSize: 1n << 30n });
  expect(
    imageInfo(
      qcow2((header) => header.writeUInt32BE(2, 4)),
      0n,
      "x",
    ).format,
  ).toBe("qcow2");
});

test.each<[string, Buffer]>([
  ["a backing file", qcow2((header) => header.writeBigUInt64BE(200n, 8))],
  ["the length of a backing file", qcow2((header) => header.writeUInt32BE(3, 16))],
  ["data in another file", qcow2((header) => header.writeBigUInt64BE(4n, 72))],
  ["the corrupt flag set", qcow2((header) => header.writeBigUInt64BE(2n, 72))],
  ["unknown features", qcow2((header) => header.writeBigUInt64BE(1n << 40n, 72))],
  ["encryption", qcow2((header) => header.writeUInt32BE(2, 32))],
  ["an unknown version", qcow2((header) => header.writeUInt32BE(4, 4))],
  ["half a header", qcow2().subarray(0, 60)],
  ["half a header of version 3", qcow2().subarray(0, 90)],
])("rejects a qcow2 image with %s", (_, head) => {
  expect(() => imageInfo(head, 0n, "x")).toThrow(
    expect.objectContaining({ code: "DISK_SOURCE_REFUSED" }),
  );
});

test.each(["KDMV", "vhdxfile", "QED\0", "LUKS\xba\xbe", "conectix"])(
  "rejects the format of %j",
  (text) => {
    expect(() => imageInfo(Buffer.from(text.padEnd(512, "\0"), "latin1"), 0n, "x")).toThrow(
      /convert it/,
    );
  },
);

test("answers or rejects any header", () => {
  const starts = fc.constantFrom("", "QFI\xfb", "QFI\xfb\0\0\0\x03");
  fc.assert(
    fc.property(starts, fc.uint8Array({ maxLength: 120 }), (start, rest) => {
      try {
        imageInfo(Buffer.concat([Buffer.from(start, "latin1"), rest]), 5n, "x");
      } catch (error) {
        expect(isDiskError(error, "DISK_SOURCE_REFUSED")).toBe(true);
      }
    }),
  );
});
