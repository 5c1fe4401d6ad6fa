import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { runProgram } from "../run-program.ts";
import { hostFiles } from "./host-files.ts";
import type { ImageFile } from "./image-file.ts";
import { type PackedImage, packImage } from "./pack-image.ts";
import { packageFiles } from "./package-files.ts";

/** The input of {@link launcherImage}. */
export interface LauncherImageOptions {
  /** Where the archive goes. */
  readonly archive: string;
  readonly reference: string;
  /** Directories of the packages whose commands and modules the image has: the launcher, the node agent. */
  readonly packages: readonly string[];
  /** The file with the small programs that a launcher Pod starts beside the launcher. */
  readonly helpers: string;
}

/** What runs a guest, of this host's Debian. */
export const debianPackages: readonly string[] = [
  ...["libvirt-daemon", "libvirt-daemon-driver-qemu", "libvirt0", "libvirt-clients"],
  ...["qemu-system-x86", "qemu-system-common", "qemu-system-data", "qemu-utils"],
  ...["seabios", "ipxe-qemu", "nftables", "iproute2", "swtpm", "swtpm-libs"],
  ...["swtpm-tools", "ovmf"],
];

/** Programs for people who look into a Pod, and for tests, by name. */
export const imagePrograms: readonly string[] = [
  ...["sh", "dash", "bash", "cat", "chmod", "chown", "cp", "date", "dd", "echo", "env", "false"],
  ...["head", "id", "kill", "ln", "ls", "mkdir", "mknod", "mv", "nsenter", "printf", "readlink"],
  ...[
    "rm",
    "setpriv",
    "sleep",
    "stat",
    "tail",
    "tee",
    "touch",
    "true",
    "uname",
    "certtool",
    "wc",
    "grep",
    "sed",
  ],
];

/** Other boards' firmware, a second QEMU, and programs that no launcher calls. */
const unneeded =
  /qemu-system-(i386|x86_64-microvm)|qemu-(nbd|io|storage-daemon|pr-helper)|virtfs-proxy|\/qemu\/(ui|audio)-|openbios|OVMF(_\w+)?_4M|snakeoil|\/ovmf\/OVMF\.fd|\/qemu\/OVMF\.fd|skiboot|slof|opensbi|hppa|u-boot|palcode|s390|petalogix|bamboo|canyonlands|\.dtb$|\/ipxe\/.*(efi-(?!virtio|e1000)|pxe-(?!virtio|e1000))|\/schemas\/|trace-events|\/bin\/(tc|rdma|devlink|ss)$|\/sbin\/(tc|rdma|devlink|tipc|bridge|vdpa|dcb)$/;

/** Where Node finds our packages. */
export const imageModules = "usr/lib/node_modules";

/**
 * Packs the image of launcher Pods from this host's own Node, libvirt and QEMU and from built
 * packages: needs no registry and no container engine.
 */
export async function launcherImage(options: LauncherImageOptions): Promise<PackedImage> {
  const host = await hostFiles({
    packages: debianPackages,
    programs: [process.execPath, ...imagePrograms],
    without: (path) => unneeded.test(path),
  });
  const own = await packageFiles(options.packages, imageModules);
  await mkdir(dirname(options.archive), { recursive: true });
  const small = `${options.archive}.node`;
  try {
    // A seventh of Node is symbols for debuggers.
    await runProgram("strip", ["--strip-unneeded", "-o", small, process.execPath]);
    const files = [...host, ...own, ...extraFiles(options.helpers)].map((file) =>
      file.source === process.execPath ? { ...file, source: small } : file,
    );
    return await packImage(files, {
      archive: options.archive,
      reference: options.reference,
      config: {
        Cmd: ["/bin/sh"],
        Env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        WorkingDir: `/${imageModules}`,
      },
    });
  } finally {
    await rm(small, { force: true });
  }
}

const launcherLink = "../lib/node_modules/@virtkit/launcher/bin/virtkit-launcher.js";

function extraFiles(helpers: string): ImageFile[] {
  const node = process.execPath === "/usr/bin/node" ? [] : [link("usr/bin/node", process.execPath)];
  return [
    ...node,
    link("usr/bin/virtkit-launcher", launcherLink),
    // Debian's firmware where KubeVirt's images have theirs.
    link("usr/share/edk2/ovmf", "../OVMF"),
    link("usr/share/OVMF/OVMF_VARS.secboot.fd", "OVMF_VARS.ms.fd"),
    // This one is also copied, and found in the image where that is a volume of a Pod.
    { path: "usr/bin/container-disk", kind: "file", source: helpers },
    ...["virt-tail", "virt-probe", "virt-freezer"].map((name) =>
      link(`usr/bin/${name}`, "container-disk"),
    ),
    text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nqemu:x:107:107:qemu:/:/bin/sh\n"),
    text("etc/group", "root:x:0:\nqemu:x:107:\n"),
    // Names that only a server of names knows would cost a timeout: there is none.
    text("etc/nsswitch.conf", "hosts: files\npasswd: files\ngroup: files\n"),
    ...["proc", "sys", "dev", "run", "root", "var/log", "var/lib", "var/cache"].map(directory),
    { path: "tmp", kind: "directory", mode: 0o1777 },
    link("var/run", "/run"),
  ];
}

function text(path: string, data: string): ImageFile {
  return { path, kind: "file", mode: 0o644, data };
}

function link(path: string, data: string): ImageFile {
  return { path, kind: "symlink", data };
}

function directory(path: string): ImageFile {
  return { path, kind: "directory" };
}
