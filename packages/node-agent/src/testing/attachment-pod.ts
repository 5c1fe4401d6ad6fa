import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@virtkit/api/clock";
import { ContainerCgroup } from "./container-cgroup.ts";

const user = 107;

/**
 * The container of an attachment Pod in the cgroup and with the mounts that a kubelet creates: the volume `data` has an image of
 * 16 MiB, the volume `dump` is empty.
 */
export class AttachmentPod implements AsyncDisposable {
  readonly containerID: string;
  readonly #directory: string;
  readonly #cgroup: ContainerCgroup;
  readonly #end: () => Promise<void>;

  private constructor(directory: string, cgroup: ContainerCgroup, end: () => Promise<void>) {
    this.#directory = directory;
    this.#cgroup = cgroup;
    this.#end = end;
    this.containerID = cgroup.containerID;
  }

  static async start(podUid: string): Promise<AttachmentPod> {
    const directory = mkdtempSync(join(tmpdir(), "virtkit-attachment-"));
    for (const volume of ["data", "dump"]) mkdirSync(join(directory, volume));
    mkdirSync(join(directory, "root"));
    await writeFile(join(directory, "data/disk.img"), "");
    truncateSync(join(directory, "data/disk.img"), 16 << 20);
    chownSync(join(directory, "dump"), user, user);
    const cgroup = new ContainerCgroup(podUid);
    const script = `set -e
mount --make-rprivate /
mount -t tmpfs none ${directory}/root
cd ${directory}/root
mkdir usr data dump
for link in bin lib lib64; do ln -s usr/$link $link; done
mount --bind /usr usr
for volume in data dump; do mount --bind ${directory}/$volume $volume; done
echo ready
exec chroot . /bin/sleep infinity`;
    const unshare = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "sh", "-c", script];
    const enter = 'echo $$ > "$0"; exec "$@"';
    const child = spawn("sh", ["-c", enter, cgroup.processFile, ...unshare], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    return new AttachmentPod(directory, cgroup, async () => {
      child.kill("SIGKILL");
      await exited;
      // Its child, which is the first process of the container, goes with it, a moment later.
      await until(() => cgroup.processes("").length === 0, { interval: 10, timeout: 10_000 });
    });
  }

  /** What is on the volume for dumps. */
  get dumps(): readonly string[] {
    return readdirSync(join(this.#directory, "dump"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    this.#cgroup[Symbol.dispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
