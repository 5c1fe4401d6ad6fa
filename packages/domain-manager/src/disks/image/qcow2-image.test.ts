import { expect, test } from "vitest";
import { imageInfo } from "./image-info.ts";
import { qcow2Image } from "./qcow2-image.ts";
import { imageBytes } from "./sparse-image.ts";

const head = (image: Parameters<typeof imageBytes>[0]) => imageBytes(image).subarray(0, 512);

test("an empty image has the requested size, in whole sectors", () => {
  const image = qcow2Image(1_000_001n);
  expect(imageInfo(head(image), BigInt(image.size), "x")).toEqual({
    format: "qcow2",
    virtualSize: 1_000_448n,
  });
  expect(image.size).toBe(4 << 16);
});

test("the first table grows with the disk", () => {
  const tebibyte = 1n << 40n;
  expect(qcow2Image(4n * tebibyte).size).toBe(4 << 16);
  expect(qcow2Image(4n * tebibyte + 1n).size).toBe(5 << 16);
  expect(qcow2Image(1024n * tebibyte).size).toBe(259 << 16);
});

test("names a backing image by path and format", () => {
  const bytes = Buffer.from(
    head(qcow2Image(1n << 20n, { path: "/disks/base.img", format: "raw" })),
  );
  const at = Number(bytes.readBigUInt64BE(8));
  expect(bytes.toString("utf8", at, at + bytes.readUInt32BE(16))).toBe("/disks/base.img");
  expect(bytes.toString("latin1", 112, 115)).toBe("raw");
});

test.each(["relative", "nbd:host:1", "json:{}", "", `/${"x".repeat(1023)}`, "/a\0b"])(
  "rejects %j as a backing image",
  (path) => {
    expect(() => qcow2Image(1n, { path, format: "raw" })).toThrow(
      expect.objectContaining({ code: "DISK_SOURCE_REFUSED" }),
    );
  },
);

test.each([0n, -1n, (1n << 50n) + 1n])("rejects a disk of %d bytes", (size) => {
  expect(() => qcow2Image(size)).toThrow(expect.objectContaining({ code: "DISK_TOO_LARGE" }));
});
