import { execFile } from "node:child_process";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { guestDisk } from "@virtkit/lab";
import type { Cluster } from "@virtkit/lab/cluster";

/** Puts the disk of the lab's guest, as `disk.img`, into a directory that all nodes share. */
export async function makeSharedRoot({ layout }: Cluster, claim: string): Promise<void> {
  const folder = join(layout.directory, "shared", claim);
  await mkdir(folder, { recursive: true });
  const image = join(folder, "disk.img");
  const convert = ["convert", "-q", "-O", "raw", await guestDisk(), image];
  await promisify(execFile)("qemu-img", convert);
  for (const path of [folder, image]) await chown(path, 107, 107);
}
