import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { lanes } from "./node-files.mjs";
import { loadLab, packTestImages } from "./test-images.mjs";

const variable = "VIRTKIT_CLUSTERS";

/** Starts a cluster for each lane of the nodes tier, once for all of its projects. */
export async function setup() {
  if (!process.env[variable]) return await startClusters(lanes);
}

/**
 * Starts clusters that test files find through the environment. Returns what ends them.
 *
 * @param {number} count
 */
export async function startClusters(count) {
  if (!process.env["VIRTKIT_KUBERNETES"]) {
    throw new Error("run the nodes tier with: npm run test:nodes");
  }
  const { startCluster } = await loadLab();
  const start = Date.now();
  const done = (/** @type {string} */ what) =>
    process.stderr.write(`nodes: ${what} after ${((Date.now() - start) / 1000).toFixed(1)} s\n`);
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-nodes-"));
  /** @type {Awaited<ReturnType<typeof startCluster>>[]} */
  const clusters = [];
  const end = async () => {
    delete process.env[variable];
    await Promise.all(clusters.map((cluster) => cluster[Symbol.asyncDispose]()));
  };
  try {
    const images = await packTestImages(folder);
    for (const { reference, bytes } of images) {
      done(`${reference} (${(bytes / 1e6).toFixed(0)} MB)`);
    }
    // One after the other: the first one unpacks the images for all of them.
    for (let lane = 1; lane <= count; lane++) {
      const name = `tier-${process.pid}-${lane}`;
      clusters.push(await startCluster({ name, images }));
      done(`cluster ${lane} of ${count}`);
    }
    process.env[variable] = clusters.map(({ layout }) => layout.directory).join(path.delimiter);
    return end;
  } catch (error) {
    await end();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
