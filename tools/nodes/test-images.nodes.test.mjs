import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { packTestImages } from "./test-images.mjs";

test("the launcher's image is under 250 MB, and packing it again gives the same bytes", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-images-"));
  try {
    const [again] = await packTestImages(folder);
    expect(again.bytes).toBeLessThan(250e6);
    // The first time was for the nodes of this run.
    expect(again.digest).toBe(process.env["VIRTKIT_LAUNCHER_DIGEST"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
