import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hypervFeatures } from "@virtkit/host-primitives/kvm";
import type { KsmFacts, KsmSettings } from "./ksm.ts";

const longest = 65_536;

/** Files of a node that its agent reads and writes. `root` is the node's, as this process sees it. */
export class NodeFiles {
  readonly #root: string;

  constructor(root = "/") {
    this.#root = root;
  }

  /** The kubelet's record of its CPU manager; undefined if there is none. */
  cpuManagerState(kubeletDirectory: string): string | undefined {
    return this.#read(join(kubeletDirectory, "cpu_manager_state"));
  }

  /** Whether processes with real-time priority may run without interruption. */
  isRealtime(): boolean {
    return this.#read("/proc/sys/kernel/sched_rt_runtime_us")?.trim() === "-1";
  }

  /** This boot of the node. */
  bootId(): string {
    return this.#read("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  }

  /** The Hyper-V features that the node's KVM gives to guests; none without KVM. */
  hypervFeatures(): readonly string[] {
    return hypervFeatures(join(this.#root, "dev/kvm"));
  }

  /** What the kernel reports about KSM; undefined if it does not support it. */
  ksmFacts(): KsmFacts | undefined {
    const run = this.#read(`${ksm}/run`);
    const pages = Number(this.#read(`${ksm}/pages_to_scan`));
    const memory = this.#read("/proc/meminfo") ?? "";
    const kibibytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(memory)?.[1]);
    const [totalMemory, availableMemory] = [kibibytes("MemTotal"), kibibytes("MemAvailable")];
    const numbers = [pages, totalMemory, availableMemory];
    if (run === undefined || !numbers.every(Number.isFinite)) return undefined;
    return { running: run.trim() === "1", pagesToScan: pages, totalMemory, availableMemory };
  }

  /** Writes to the kernel. Throws if that is not allowed. */
  setKsm({ running, sleepMilliseconds, pagesToScan }: KsmSettings): void {
    const write = (name: string, value: number): void =>
      writeFileSync(join(this.#root, ksm, name), String(value));
    if (sleepMilliseconds !== undefined) write("sleep_millisecs", sleepMilliseconds);
    if (pagesToScan !== undefined) write("pages_to_scan", pagesToScan);
    write("run", running ? 1 : 0);
  }

  #read(path: string): string | undefined {
    try {
      return readFileSync(join(this.#root, path), "utf8").slice(0, longest);
    } catch {
      // The caller treats a missing file as unknown.
      return undefined;
    }
  }
}

const ksm = "/sys/kernel/mm/ksm";
