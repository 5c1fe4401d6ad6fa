import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Bytes of the volumes that have an image, and of the device. */
export const volumeSize: number = 16 * 1024 * 1024;

/**
 * The container of an attachment Pod, as a kubelet and a runtime create it. Volumes: `files` has an image, `empty` none, the image
 * of `evil` is a link to a file on the host and that of `pipe` a FIFO, `bare` is not mounted, `device` is a block device, and
 * `crowd` has two of them.
 */
export interface AttachmentFixture {
  readonly pid: number;
  /** Major and minor number of the device. */
  readonly device: { readonly major: number; readonly minor: number };
  end(): Promise<void>;
  /** Releases the loop device once nobody uses it any more. */
  detach(): void;
}

export async function startAttachment(directory: string): Promise<AttachmentFixture> {
  for (const volume of ["files", "empty", "evil", "pipe"]) {
    mkdirSync(join(directory, "on", volume), { recursive: true });
  }
  for (const file of ["files/disk.img", "device.img"]) {
    writeFileSync(join(directory, "on", file), "");
    truncateSync(join(directory, "on", file), volumeSize);
  }
  symlinkSync("/etc/shadow", join(directory, "on/evil/disk.img"));
  execFileSync("mkfifo", [join(directory, "on/pipe/disk.img")]);
  const run = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { encoding: "utf8" }).trim();
  const loop = run("losetup", "-f", "--show", join(directory, "on/device.img"));
  const numbers = run("stat", "-c", "%t %T", loop).split(" ");
  const [major = 0, minor = 0] = numbers.map((each) => Number.parseInt(each, 16));
  const root = join(directory, "root");
  mkdirSync(root);
  const script = `set -e
mount --make-rprivate /
mount -t tmpfs none ${root}
cd ${root}
mkdir usr files empty evil pipe bare path path/device path/crowd
for link in bin lib lib64; do ln -s usr/$link $link; done
mount --bind /usr usr
for volume in files empty evil pipe; do mount --bind ${directory}/on/$volume $volume; done
mknod path/device/claim b ${major} ${minor}
mknod path/crowd/one b ${major} ${minor}
mknod path/crowd/two b ${major} ${minor}
echo ready
exec chroot . /bin/sleep infinity`;
  const child = spawn("unshare", ["--mount", "sh", "-c", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const detach = (): void => void run("losetup", "-d", loop);
  return { pid: child.pid ?? 0, device: { major, minor }, end, detach };
}
