import { mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { provideHelpers } from "../helpers.mjs";
import { cacheDir, root } from "../setup.mjs";

/** The built package `lab`: this is not TypeScript, and runs before any test does. */
export async function loadLab() {
  const load = async (/** @type {string} */ file) =>
    await import(pathToFileURL(path.join(root, "packages/lab/dist", file)).href);
  return { ...(await load("index.js")), ...(await load("cluster/index.js")) };
}

/**
 * Packs the image of all components: the API server, the controllers, the node agent and launcher Pods.
 * @param {{ archive: string, reference: string }} place
 */
export async function packComponents(place) {
  const { launcherImage } = await loadLab();
  const names = ["packages/launcher", "packages/node-agent", "examples/operator"];
  return await launcherImage({
    ...place,
    packages: names.map((name) => path.join(root, name)),
    helpers: provideHelpers(root, cacheDir),
  });
}

/**
 * Packs the images that Pods of the tests run: the launcher with our packages as they were built, and the
 * disk of the lab's guest.
 * @param {string} folder for the archives
 */
export async function packTestImages(folder) {
  const { guestDisk, packImage, testImages } = await loadLab();
  mkdirSync(folder, { recursive: true });
  const archive = path.join(folder, "launcher.tar");
  const launcher = await packComponents({ archive, reference: testImages.launcher });
  const owned = { uid: 107, mode: 0o644 };
  const source = await guestDisk();
  const disk = await packImage(
    [
      { path: "disk", kind: "directory", uid: 107 },
      { path: "disk/disk.qcow2", kind: "file", source, ...owned },
    ],
    { archive: path.join(folder, "disk.tar"), reference: testImages.disk },
  );
  return [launcher, disk];
}
