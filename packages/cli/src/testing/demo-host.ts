import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { guestDisk, runProgram } from "@virtkit/lab";
import { localNames } from "@virtkit/local";
import type { Run } from "./run-virtkit.ts";
import { VirtkitProcess } from "./virtkit-process.ts";

const image = "registry.example/virtkit/demo:latest";
const demo = new URL("../../../../examples/vms/demo.yaml", import.meta.url);

/** Generous: the host may be busy with other tests. */
const patience = 120_000;

/** A test's own state directory, and the demo's manifest and disk. */
export class DemoHost implements AsyncDisposable {
  readonly directory: string;
  readonly file: string;
  readonly #disk: string;

  private constructor(directory: string, disk: string) {
    this.directory = directory;
    this.file = join(directory, "vm.yaml");
    this.#disk = disk;
  }

  /** @param change what differs from the demo */
  static async make(change: (text: string) => string = (text) => text): Promise<DemoHost> {
    const directory = await mkdtemp(join(tmpdir(), "virtkit-demo-"));
    const host = new DemoHost(directory, await guestDisk());
    await writeFile(host.file, change(await readFile(demo, "utf8")));
    return host;
  }

  start(...args: readonly string[]): VirtkitProcess {
    return new VirtkitProcess(args, { VIRTKIT_STATE_DIR: this.directory });
  }

  async virtkit(...args: readonly string[]): Promise<Run> {
    return await this.start(...args).end();
  }

  /** Starts to run a manifest, by default the demo's. */
  run(args: readonly string[] = [], file: string = this.file): VirtkitProcess {
    return this.start("run", "-f", file, "--image", `${image}=${this.#disk}`, ...args);
  }

  /** What `ps` and `why` know about the demo. */
  async state(): Promise<{ readonly state: string; readonly end?: { readonly message: string } }> {
    const [row] = JSON.parse((await this.virtkit("ps", "-o", "json")).out) as [never];
    return row ?? { state: "none" };
  }

  /** Waits until `ps` shows a state. */
  async untilState(wanted: string): Promise<void> {
    await until(async () => (await this.state()).state === wanted, `the state ${wanted}`);
  }

  /** The Pods that the state directory has a record of. */
  podUids(): string[] {
    const vmis = join(this.directory, "vmis");
    if (!existsSync(vmis)) return [];
    return readdirSync(vmis)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(vmis, name), "utf8")) as { podUid: string })
      .map(({ podUid }) => podUid);
  }

  /** The Pods that have a folder in the state directory, with or without a record. */
  podFolders(): string[] {
    const pods = join(this.directory, "pods");
    return existsSync(pods) ? readdirSync(pods) : [];
  }

  /** The QEMU of the demo, which must run. */
  qemu(): number {
    return this.#processNamed(({ name }) => /^qemu/.test(name));
  }

  /** The launcher of the demo, which must run. */
  launcher(): number {
    return this.#processNamed(isLauncher);
  }

  hasLauncher(): boolean {
    return this.#find(isLauncher) !== undefined;
  }

  #processNamed(is: (process: Process) => boolean): number {
    const found = this.#find(is);
    if (!found) throw new Error(`no such process runs in the Pod ${this.podUids().join()}`);
    return found.pid;
  }

  #find(is: (process: Process) => boolean): Process | undefined {
    const [podUid = "none"] = this.podUids();
    return processes().find((each) => each.cgroup.includes(podUid) && is(each));
  }

  /** Everything of Pods that is left in the kernel, one line each. */
  async leftovers(podUids: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    found.push(...mounts.filter((line) => line.includes(this.directory)));
    for (const podUid of podUids) {
      const names = localNames(this.directory, podUid);
      const tables = await runProgram("nft", ["list", "tables"]);
      const links = await runProgram("ip", ["-o", "link"]);
      if (tables.includes(names.nftTable)) found.push(`nft ${names.nftTable}`);
      if (links.includes(names.hostLink)) found.push(`link ${names.hostLink}`);
      if (existsSync(`/run/netns/${names.networkNamespace}`)) found.push(names.networkNamespace);
      const cgroups = await runProgram("find", ["/sys/fs/cgroup", "-name", podUid]);
      found.push(...cgroups.split("\n").filter(Boolean));
      const own = ({ line, cgroup }: Process): boolean => `${line} ${cgroup}`.includes(podUid);
      found.push(
        ...processes()
          .filter(own)
          .map(({ pid, line }) => `${pid} ${line}`),
      );
    }
    return found;
  }

  /** Files that local mode has left in the state directory. */
  async files(): Promise<string[]> {
    const all = (await runProgram("find", [this.directory, "-type", "f"])).trim().split("\n");
    return all.filter((path) => !path.endsWith(".yaml"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.virtkit("rm", "--now", "demo");
    await rm(this.directory, { recursive: true, force: true });
  }
}

interface Process {
  readonly pid: number;
  readonly name: string;
  readonly line: string;
  readonly cgroup: string;
  readonly status: string;
}

/** Processes that have ended, and wait for the host's init to reap them. */
function isOver({ status }: Process): boolean {
  return /^State:\s+Z/m.test(status) && /^PPid:\s+1$/m.test(status);
}

function processes(): Process[] {
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({
      pid: Number(pid),
      name: read(pid, "comm"),
      line: read(pid, "cmdline").replaceAll("\0", " "),
      cgroup: read(pid, "cgroup"),
      status: read(pid, "status"),
    }))
    .filter((each) => !isOver(each));
}

/** The first process of the sandbox's PID namespace, once it has become the launcher. */
function isLauncher({ line, status }: Process): boolean {
  return line.includes("virtkit-launcher") && /^NSpid:\s+\d+\s+1$/m.test(status);
}

/** Waits for a condition; throws with its description if it does not come true. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const deadline = Date.now() + patience;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${patience} ms`);
    await sleep(100);
  }
}

/** A port of this host that nobody uses. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port: free } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return free;
}
