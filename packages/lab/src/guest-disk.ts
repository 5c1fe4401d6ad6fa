import { existsSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { guestCommandLine, guestDirectory, guestImage } from "./guest-image.ts";
import { runProgram } from "./run-program.ts";

const bootConfiguration = `SERIAL 0 115200
DEFAULT linux
PROMPT 0
TIMEOUT 0
LABEL linux
  LINUX vmlinuz
  INITRD initrd
  APPEND ${guestCommandLine} hb=none
`;

/**
 * Returns the path of a disk image in qcow2 format from which a BIOS boots the guest of {@link guestImage};
 * builds it on first use into the same folder. The disk is one FAT file system with syslinux on it, made
 * with mtools: no partition, no loop device, no root. The guest runs from memory and writes nothing to it.
 */
export async function guestDisk(): Promise<string> {
  const { kernel, initrd } = await guestImage();
  const disk = join(guestDirectory(), "disk.qcow2");
  if (existsSync(disk)) return disk;
  const work = await mkdtemp(join(guestDirectory(), "disk-"));
  try {
    const raw = join(work, "disk.raw");
    const environment = { MTOOLS_SKIP_CHECK: "1" };
    // 63 MiB by the geometry that a BIOS expects of a hard disk: 128 cylinders, 16 heads, 63 sectors.
    await runProgram("mformat", ["-C", "-i", raw, "-t", "128", "-h", "16", "-s", "63", "::"]);
    await writeFile(join(work, "syslinux.cfg"), bootConfiguration);
    const files = [kernel, initrd, join(work, "syslinux.cfg")];
    await runProgram("mcopy", ["-i", raw, ...files, "::/"], { env: environment });
    await runProgram("syslinux", ["--install", raw], { env: environment });
    const image = join(work, "disk.qcow2");
    await runProgram("qemu-img", ["convert", "-q", "-O", "qcow2", raw, image]);
    await rename(image, disk);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return disk;
}
