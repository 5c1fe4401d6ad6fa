import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until, wallTime } from "@virtkit/api/clock";
import { cacheDirectory } from "../cache-directory.ts";
import type { PackedImage } from "../image/pack-image.ts";
import { LabError } from "../lab-error.ts";
import { runProgram } from "../run-program.ts";

/**
 * A template that is unused for this long is removed: each build of our packages creates a new one.
 */
const keptMilliseconds = 24 * 3_600_000;

/**
 * The directory of a containerd that has imported and unpacked these images; created once per set
 * of images. Nodes get it by {@link placeImages}.
 */
export async function imageTemplate(
  images: readonly PackedImage[],
  programs: string,
): Promise<string> {
  const parent = cacheDirectory("cluster-images");
  const known = images.map(({ reference, digest }) => `${reference}@${digest}`).sort();
  const hash = createHash("sha256").update(known.join("\n")).digest("hex").slice(0, 16);
  const template = join(parent, hash);
  if (existsSync(template)) {
    const now = wallTime();
    await utimes(template, now, now);
    return template;
  }
  await removeUnused(parent);
  const work = join(parent, `${hash}.${process.pid}`);
  await mkdir(join(work, "state"), { recursive: true });
  try {
    await importImages(work, images, programs);
    await rename(join(work, "root"), template).catch((error: unknown) => {
      // Someone else was faster, with the same images.
      if (!existsSync(template)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return template;
}

/**
 * Gives a node the unpacked images, as hard links: all nodes share the disk's blocks and the page cache.
 * That is safe because containerd never writes to what it has unpacked. Databases are copied.
 */
export async function placeImages(template: string, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await runProgram("cp", ["-al", template, directory], { timeout: 300_000 });
  const files = await readdir(template, { recursive: true });
  for (const name of files.filter((each) => each.endsWith(".db"))) {
    await rm(join(directory, name));
    await copyFile(join(template, name), join(directory, name));
  }
}

async function importImages(
  work: string,
  images: readonly PackedImage[],
  programs: string,
): Promise<void> {
  const socket = join(work, "state/containerd.sock");
  await writeFile(join(work, "config.toml"), importConfig(work, socket));
  // Unpacking mounts; nobody else needs to see that.
  const private_ = ["--mount", "--propagation", "private", "--"];
  const daemon = [join(programs, "containerd"), "--config", join(work, "config.toml")];
  const containerd = spawn("unshare", [...private_, ...daemon], { stdio: "ignore" });
  const ended = once(containerd, "exit");
  try {
    const isUp = (): boolean => existsSync(socket) || containerd.exitCode !== null;
    await until(isUp, { interval: 20, timeout: 60_000 });
    for (const { archive } of images) {
      const args = ["-a", socket, "-n", "k8s.io", "images", "import"];
      await runProgram(join(programs, "ctr"), [...args, "--snapshotter", "overlayfs", archive], {
        timeout: 300_000,
      });
    }
    containerd.kill("SIGTERM");
    await ended;
  } catch (error) {
    containerd.kill("SIGKILL");
    throw new LabError("LAB_IMAGE", "the images could not be imported", { cause: error });
  }
}

function importConfig(work: string, socket: string): string {
  const unused = ["blockfile", "erofs", "native"].map(
    (name) => `io.containerd.snapshotter.v1.${name}`,
  );
  const cri = ["grpc.v1.cri", "cri.v1.images", "cri.v1.runtime", "nri.v1.nri"];
  const disabled = [...unused, ...cri.map((name) => `io.containerd.${name}`)];
  return `version = 3
root = "${work}/root"
state = "${work}/state"
disabled_plugins = ${JSON.stringify(disabled)}
[grpc]
address = "${socket}"
`;
}

async function removeUnused(parent: string): Promise<void> {
  await mkdir(parent, { recursive: true });
  const now = wallTime().getTime();
  for (const name of await readdir(parent)) {
    // Somebody else may remove it at the same time.
    const found = await stat(join(parent, name)).catch(() => undefined);
    if (!found || now - found.mtimeMs < keptMilliseconds) continue;
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
}
