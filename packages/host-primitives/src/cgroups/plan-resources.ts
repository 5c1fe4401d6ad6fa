import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";

/** Limits of a cgroup, the same for v1 and v2. Absent limits are left alone. */
export interface CgroupResources {
  /** CPUs on which tasks may run. */
  readonly cpus?: readonly number[];
  /** NUMA nodes from which memory may come. */
  readonly memoryNodes?: readonly number[];
  /** Share of the CPU relative to siblings: 2 to 262,144, where 1,024 is one CPU's worth in Kubernetes. */
  readonly cpuShares?: number;
  /** CPU time per period in microseconds, or `max`. */
  readonly cpuQuota?: { readonly quotaUs: number | "max"; readonly periodUs: number };
  readonly memoryMaxBytes?: number | "max";
  /**
   * Swap that may be used in addition to memory. Needs a number for `memoryMaxBytes`, because v1
   * counts both together. A kernel that does not account for swap has no such file.
   */
  readonly swapMaxBytes?: number;
  readonly pidsMax?: number | "max";
  /**
   * Whether to freeze the tasks; it takes effect after a moment. On v1, a task that waits for its
   * child in `vfork` stays `FREEZING`: ask again until `freezer.state` is `FROZEN`.
   */
  readonly frozen?: boolean;
}

/** One file to write, in the order of the plan. */
export interface CgroupWrite {
  /** Controller that the file belongs to; on v1 it chooses the hierarchy. */
  readonly controller: "cpuset" | "cpu" | "memory" | "pids" | "freezer";
  readonly file: string;
  readonly value: string;
}

/**
 * Plans which files to write for a set of limits. Pure; throws `HOST_ARGUMENT_INVALID` on a value
 * out of range.
 */
export function planResources(version: 1 | 2, resources: CgroupResources): CgroupWrite[] {
  check(resources);
  return version === 1 ? planV1(resources) : planV2(resources);
}

function check({
  cpuShares,
  cpuQuota,
  memoryMaxBytes,
  swapMaxBytes,
  pidsMax,
}: CgroupResources): void {
  if (cpuShares !== undefined) integer(cpuShares, 2, 262_144, "cpuShares");
  if (cpuQuota) {
    integer(cpuQuota.periodUs, 1_000, 1_000_000, "cpuQuota.periodUs");
    if (cpuQuota.quotaUs !== "max") integer(cpuQuota.quotaUs, 1_000, 1e12, "cpuQuota.quotaUs");
  }
  if (typeof memoryMaxBytes === "number") {
    integer(memoryMaxBytes, 0, Number.MAX_SAFE_INTEGER, "memoryMaxBytes");
  }
  if (swapMaxBytes !== undefined) {
    integer(swapMaxBytes, 0, Number.MAX_SAFE_INTEGER, "swapMaxBytes");
    if (typeof memoryMaxBytes !== "number") {
      const message = "swapMaxBytes needs a number for memoryMaxBytes; set both";
      throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "swapMaxBytes" });
    }
  }
  if (typeof pidsMax === "number") integer(pidsMax, 0, 4_194_304, "pidsMax");
}

function planV1(wanted: CgroupResources): CgroupWrite[] {
  const { cpus, memoryNodes, cpuShares, cpuQuota, memoryMaxBytes, pidsMax, frozen } = wanted;
  const max = (value: number | "max"): string => (value === "max" ? "-1" : String(value));
  return [
    ...write(memoryNodes, "cpuset", "cpuset.mems", formatList),
    ...write(cpus, "cpuset", "cpuset.cpus", formatList),
    ...write(cpuShares, "cpu", "cpu.shares", String),
    ...write(cpuQuota, "cpu", "cpu.cfs_period_us", ({ periodUs }) => String(periodUs)),
    ...write(cpuQuota, "cpu", "cpu.cfs_quota_us", ({ quotaUs }) => max(quotaUs)),
    ...write(memoryMaxBytes, "memory", "memory.limit_in_bytes", max),
    ...write(wanted.swapMaxBytes, "memory", "memory.memsw.limit_in_bytes", (swap) =>
      String(swap + Number(memoryMaxBytes)),
    ),
    ...write(pidsMax, "pids", "pids.max", String),
    ...write(frozen, "freezer", "freezer.state", (on) => (on ? "FROZEN" : "THAWED")),
  ];
}

function planV2(wanted: CgroupResources): CgroupWrite[] {
  const { cpus, memoryNodes, cpuShares, cpuQuota, memoryMaxBytes, pidsMax, frozen } = wanted;
  return [
    ...write(memoryNodes, "cpuset", "cpuset.mems", formatList),
    ...write(cpus, "cpuset", "cpuset.cpus", formatList),
    ...write(cpuShares, "cpu", "cpu.weight", (shares) => String(cpuWeight(shares))),
    ...write(cpuQuota, "cpu", "cpu.max", ({ quotaUs, periodUs }) => `${quotaUs} ${periodUs}`),
    ...write(memoryMaxBytes, "memory", "memory.max", String),
    ...write(wanted.swapMaxBytes, "memory", "memory.swap.max", String),
    ...write(pidsMax, "pids", "pids.max", String),
    ...write(frozen, "freezer", "cgroup.freeze", (on) => (on ? "1" : "0")),
  ];
}

function write<T>(
  value: T | undefined,
  controller: CgroupWrite["controller"],
  file: string,
  format: (value: T) => string,
): CgroupWrite[] {
  return value === undefined ? [] : [{ controller, file, value: format(value) }];
}

/**
 * Converts v1 shares to a v2 weight, with the linear mapping from 2..262144 to 1..10000 that the
 * container runtimes use.
 */
export function cpuWeight(shares: number): number {
  return 1 + Math.floor(((shares - 2) * 9_999) / 262_142);
}

/**
 * Formats a list of numbers for the kernel: `0-3,8`. Sorted, without duplicates; it must not be
 * empty.
 */
export function formatList(numbers: readonly number[]): string {
  if (numbers.length === 0) {
    throw new HostError(
      "HOST_ARGUMENT_INVALID",
      "the list of CPUs or memory nodes is empty; name at least one",
    );
  }
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const number of sorted) {
    integer(number, 0, 65_535, "list");
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
    .join(",");
}

/** The inverse of {@link formatList}; the empty string is the empty list. */
export function parseList(text: string): number[] {
  const numbers: number[] = [];
  for (const part of text.trim().split(",")) {
    if (part === "") continue;
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    if (!match) {
      const message = `${JSON.stringify(text)} is not a list of numbers such as 0-3,8`;
      throw new HostError("HOST_FORMAT_INVALID", message, { path: "list" });
    }
    const first = Number(match[1]);
    for (let n = first; n <= Number(match[2] ?? first); n++) numbers.push(n);
  }
  return numbers;
}
