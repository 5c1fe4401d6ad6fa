import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { ownCgroupLayout } from "@virtkit/host-primitives/cgroups";

/** The cgroup of a container, where and as a kubelet creates it: an agent uses it to find the container's first process. */
export class ContainerCgroup implements Disposable {
  readonly containerID: string;
  /** A process that writes its pid to this file joins. */
  readonly processFile: string;
  /** From the innermost outwards. */
  readonly #directories: readonly string[];

  constructor(podUid: string) {
    const { unified, controllers } = ownCgroupLayout();
    const root = unified ?? Object.values(controllers)[0];
    if (root === undefined) throw new Error("this host has no cgroups");
    const id = randomBytes(32).toString("hex");
    this.containerID = `containerd://${id}`;
    const top = join(root, `virtkit-test-${process.pid}`, "kubepods");
    const pod = join(top, `pod${podUid}`);
    const own = join(pod, id);
    this.#directories = [own, pod, top, join(top, "..")];
    mkdirSync(own, { recursive: true });
    this.processFile = join(own, "cgroup.procs");
  }

  /** Processes in it whose command line has a word, with the time of their start: nobody else is ever the same. */
  processes(word: string): readonly string[] {
    const pids = readFileSync(this.processFile, "utf8").split("\n").filter(Boolean);
    const read = (pid: string, file: string): string => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, "utf8");
      } catch {
        // It has ended meanwhile.
        return "";
      }
    };
    return pids
      .filter((pid) => read(pid, "cmdline").includes(word))
      .map((pid) => `${pid}@${read(pid, "stat").split(" ")[21]}`);
  }

  /** All its processes must have ended. */
  [Symbol.dispose](): void {
    for (const directory of this.#directories) {
      const isParent = readdirSync(directory, { withFileTypes: true }).some((each) =>
        each.isDirectory(),
      );
      if (!isParent) rmdirSync(directory);
    }
  }
}
