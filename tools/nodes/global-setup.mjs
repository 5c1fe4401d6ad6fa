import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadLab, packTestImages } from "./test-images.mjs";

/** Starts one cluster for all files of the nodes tier; they find it through the environment. */
export async function setup() {
  if (!process.env["VIRTKIT_KUBERNETES"]) {
    throw new Error("run the nodes tier with: npm run test:nodes");
  }
  const { startCluster } = await loadLab();
  const start = Date.now();
  const done = (/** @type {string} */ what) =>
    process.stderr.write(`nodes: ${what} after ${((Date.now() - start) / 1000).toFixed(1)} s\n`);
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-nodes-"));
  try {
    const images = await packTestImages(folder);
    // Packing takes seconds; the test of the images compares with this one.
    const [launcher] = images;
    process.env["VIRTKIT_LAUNCHER_DIGEST"] = launcher?.digest;
    for (const { reference, bytes } of images) {
      done(`${reference} (${(bytes / 1e6).toFixed(0)} MB)`);
    }
    const cluster = await startCluster({ name: `tier-${process.pid}`, images, onProgress: done });
    process.env["VIRTKIT_CLUSTER"] = cluster.layout.directory;
    return async () => await cluster[Symbol.asyncDispose]();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
