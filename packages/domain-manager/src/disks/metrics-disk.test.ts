import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { writeImage } from "./files/write-image.ts";
import { type HostMetric, metricsDisk, updateMetricsDisk } from "./metrics-disk.ts";

const metric: HostMetric = {
  name: "CPUTime",
  value: "1<2",
  type: "real64",
  context: "vm",
  unit: "s",
};

function body(disk: Buffer): string {
  expect(disk.toString("latin1", 0, 4)).toBe("mvbd");
  expect(disk.readInt32BE(4)).toBe(0);
  const bytes = disk.subarray(16, 16 + disk.readInt32BE(12));
  expect(disk.readInt32BE(8)).toBe(bytes.reduce((sum, byte) => sum + byte, 0));
  return bytes.toString("utf8");
}

test("a new disk has no metrics; later ones replace each other", async () => {
  const directory = await temporaryDirectory();
  const path = `${directory.path}/vhostmd0`;
  await writeImage(path, metricsDisk());
  expect(body(await readFile(path))).toBe("<metrics></metrics>\n");
  await updateMetricsDisk(path, [metric, metric]);
  await updateMetricsDisk(path, [metric]);
  const disk = await readFile(path);
  expect(disk.length).toBe(256 << 10);
  expect(body(disk)).toBe(
    '<metrics>\n  <metric type="real64" context="vm" unit="s">\n    <name>CPUTime</name>\n    <value>1&#60;2</value>\n  </metric>\n</metrics>\n',
  );
});

test("rejects more metrics than the disk holds", () => {
  expect(() => metricsDisk([{ ...metric, value: "x".repeat(256 << 10) }])).toThrow(
    expect.objectContaining({ code: "DISK_TOO_LARGE" }),
  );
});
