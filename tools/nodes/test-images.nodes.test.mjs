import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { packTestImages } from "./test-images.mjs";

test("the launcher's image is under 250 MB, and packing it again gives the same bytes", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-images-"));
  try {
    const [first] = await packTestImages(folder);
    expect(first.bytes).toBeLessThan(250e6);
    const [again] = await packTestImages(folder);
    expect(again.digest).toBe(first.digest);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
