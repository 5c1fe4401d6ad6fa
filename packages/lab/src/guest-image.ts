import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { cacheDirectory } from "./cache-directory.ts";
import { type CpioEntry, cpioArchive } from "./cpio-archive.ts";
import { guestCloudInit, guestDhcp, guestDirty, guestInit, guestShutdown } from "./guest-init.ts";
import { LabError } from "./lab-error.ts";
import { runProgram } from "./run-program.ts";
import { sharedLibraries } from "./shared-libraries.ts";

/** What QEMU boots. */
export interface GuestImage {
  readonly kernel: string;
  readonly initrd: string;
}

/**
 * Quiet, so that the console is free for its user. A kernel that panics reboots at once instead of hanging; whether that ends
 * QEMU is up to the domain (`on_reboot`), and by default it does not. The kernel's tests of its own ciphers are a tenth of
 * what a boot takes in emulation.
 */
export const guestCommandLine = "console=ttyS0 quiet panic=-1 cryptomgr.notests";

/** In the order in which the guest loads them; dependencies are found in the modules. */
const modules = [
  ...["virtio_pci", "virtio_console", "virtio_blk", "virtio_net", "virtio_rng", "virtio_balloon"],
  ...[
    "virtio_input",
    "virtio_scsi",
    "sd_mod",
    "sr_mod",
    "virtio_mem",
    "evdev",
    "button",
    "rtc_cmos",
    "isofs",
  ],
];

/**
 * In the image, but not loaded: for scripts of `runInGuest` that need what this host's kernel may
 * lack.
 */
const spareModules = ["vsock_loopback", "vhost_vsock"];

/**
 * Returns the paths of a kernel and an initramfs with busybox and qemu-guest-agent; builds them on
 * first use, from Debian packages that apt downloads, in the cache folder. Concurrent builds do not
 * disturb each other.
 */
export async function guestImage(): Promise<GuestImage> {
  const directory = guestDirectory();
  const image = { kernel: join(directory, "vmlinuz"), initrd: join(directory, "initrd") };
  if (existsSync(image.initrd)) return image;
  const work = join(directory, `build-${process.pid}`);
  await mkdir(work, { recursive: true });
  try {
    await unpackPackages(work);
    await rename(await kernelFile(work), image.kernel);
    const initrd = gzipSync(cpioArchive(await initramfs(work)), { level: 1 });
    await writeFile(join(work, "initrd"), initrd);
    // Last: an existing initramfs means that the kernel exists, too.
    await rename(join(work, "initrd"), image.initrd);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return image;
}

/** Where the image is kept. The name changes with the recipe, so that an older image is not used. */
export function guestDirectory(): string {
  const parts = [guestInit, guestCloudInit, guestDhcp, guestShutdown, guestDirty, ...modules];
  // The disk's boot loader has it.
  parts.push(guestCommandLine);
  parts.push(...spareModules);
  const recipe = createHash("sha256").update(parts.join("\0")).digest("hex");
  return cacheDirectory(`guest-${recipe.slice(0, 12)}`);
}

async function unpackPackages(work: string): Promise<void> {
  // A list of packages that is missing or old names versions that can no longer be downloaded.
  await runProgram("apt-get", ["update"], { timeout: 300_000 });
  const about = await runProgram("apt-cache", ["depends", "linux-image-cloud-amd64"]);
  const kernel = /Depends: (linux-image-\S+)/.exec(about)?.[1];
  if (!kernel) {
    throw new LabError(
      "LAB_GUEST_BUILD",
      "apt knows no linux-image-cloud-amd64: add a Debian source that has it",
    );
  }
  await runProgram("apt-get", ["download", kernel, "qemu-guest-agent", "busybox-static"], {
    cwd: work,
    timeout: 300_000,
  });
  for (const file of await readdir(work)) {
    if (file.endsWith(".deb")) await runProgram("dpkg-deb", ["-x", file, "root"], { cwd: work });
  }
}

async function kernelFile(work: string): Promise<string> {
  const boot = join(work, "root/boot");
  const name = (await readdir(boot)).find((file) => file.startsWith("vmlinuz-"));
  if (!name) throw new LabError("LAB_GUEST_BUILD", `the kernel package has no vmlinuz in ${boot}`);
  return join(boot, name);
}

async function initramfs(work: string): Promise<CpioEntry[]> {
  const busybox = join(work, "root/bin/busybox");
  const applets = (await runProgram(busybox, ["--list"])).trim().split("\n");
  const folders = ["bin", "sbin", "usr", "usr/sbin", "etc", "etc/acpi", "etc/acpi/PWRF", "proc"];
  folders.push("sys", "dev", "tmp", "run", "mnt", "root", "var", "lib", "lib64", "modules");
  folders.push("lib/x86_64-linux-gnu");
  return [
    ...folders.map((path) => ({ path, kind: "directory" as const })),
    { path: "bin/busybox", kind: "file", data: await readFile(busybox) },
    ...applets.flatMap((name) => applet(name)),
    { path: "var/run", kind: "symlink", data: "/run" },
    { path: "init", kind: "file", data: guestInit },
    { path: "etc/dhcp.sh", kind: "file", data: guestDhcp },
    { path: "etc/cloud-init.sh", kind: "file", data: guestCloudInit },
    { path: "sbin/shutdown", kind: "file", data: guestShutdown },
    { path: "bin/dirty", kind: "file", data: guestDirty },
    { path: "etc/acpi/PWRF/00000080", kind: "file", data: "#!/bin/sh\n/sbin/shutdown -P\n" },
    { path: "etc/passwd", kind: "file", mode: 0o644, data: "root::0:0:root:/root:/bin/sh\n" },
    { path: "etc/group", kind: "file", mode: 0o644, data: "root:x:0:\n" },
    { path: "run/utmp", kind: "file", mode: 0o644, data: loggedIn("root", "ttyS0") },
    { path: "usr/sbin/qemu-ga", kind: "file", data: await readFile(agent(work)) },
    ...(await sharedLibraries(agent(work))),
    ...(await kernelModules(work)),
  ];
}

function agent(work: string): string {
  return join(work, "root/usr/sbin/qemu-ga");
}

/** The agent looks for programs in /sbin, the init in the PATH. */
function applet(name: string): CpioEntry[] {
  if (name === "busybox") return [];
  const link = { kind: "symlink" as const, data: "/bin/busybox" };
  return [
    { path: `bin/${name}`, ...link },
    ...(name === "hwclock" ? [{ path: `sbin/${name}`, ...link }] : []),
  ];
}

/** One record of utmp, so that the agent has a logged-in user to report. */
function loggedIn(user: string, line: string): Buffer {
  const record = Buffer.alloc(384);
  record.writeInt16LE(7, 0); // USER_PROCESS
  record.writeInt32LE(1, 4);
  record.write(line, 8);
  record.write(user, 44);
  record.writeInt32LE(1_700_000_000, 340);
  return record;
}

async function kernelModules(work: string): Promise<CpioEntry[]> {
  const root = join(work, "root/lib/modules");
  const files = await readdir(root, { recursive: true });
  const byName = new Map(
    files
      .filter((file) => file.endsWith(".ko"))
      .map((file) => [moduleName(file), join(root, file)]),
  );
  const loaded = new Map<string, Buffer>();
  const load = async (name: string): Promise<void> => {
    const path = byName.get(name);
    // What is built into the kernel has no file.
    if (!path || loaded.has(name)) return;
    const data = await readFile(path);
    for (const needed of dependencies(data)) await load(needed);
    loaded.set(name, data);
  };
  const inOrder = (names: Iterable<string>): string =>
    [...names].map((name) => `${name}.ko\n`).join("");
  for (const name of modules) await load(name);
  const order = [...loaded.keys()];
  for (const name of spareModules) await load(name);
  const spare = [...loaded.keys()].slice(order.length);
  return [
    { path: "modules/order", kind: "file", data: inOrder(order) },
    { path: "modules/spare", kind: "file", data: inOrder(spare) },
    ...[...loaded].map(([name, data]) => ({
      path: `modules/${name}.ko`,
      kind: "file" as const,
      data,
    })),
  ];
}

function moduleName(file: string): string {
  return basename(file, ".ko").replaceAll("-", "_");
}

/** A module says in its .modinfo section, as a C string, which others it needs. */
function dependencies(module: Buffer): string[] {
  const start = module.indexOf("\0depends=");
  if (start < 0) return [];
  const from = start + "\0depends=".length;
  const names = module.toString("latin1", from, module.indexOf(0, from));
  return names.split(",").filter(Boolean).map(moduleName);
}
