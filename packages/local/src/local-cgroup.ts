import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type UntilOptions, until } from "@virtkit/api/clock";
import {
  type CgroupResources,
  type CgroupWrite,
  ownCgroupLayout,
  planResources,
} from "@virtkit/host-primitives/cgroups";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import type { LocalLimits } from "./local-limits.ts";

const parent = "virtkit";

/** The controllers that a Pod's cgroup is made for, where the host has them in version 1. */
const controllers = ["cpu", "memory", "cpuset", "pids", "devices", "freezer"];

/** One directory of a Pod's cgroup. */
interface CgroupDirectory {
  readonly version: 1 | 2;
  readonly path: string;
  /** Those of version 1 that are mounted there: `cpu,cpuacct` is one directory on most hosts. */
  readonly controllers: readonly string[];
}

/** The directories of a Pod's cgroup, one per hierarchy; on version 2 there is only one. */
function directories(name: string): CgroupDirectory[] {
  const { unified, controllers: v1 } = ownCgroupLayout();
  const known = controllers.filter((controller) => v1[controller] !== undefined);
  const roots = [...new Set(known.map((controller) => v1[controller] ?? ""))];
  return [
    ...roots.map((root) => ({
      version: 1 as const,
      path: join(root, parent, name),
      controllers: known.filter((controller) => v1[controller] === root),
    })),
    ...(unified === undefined
      ? []
      : [{ version: 2 as const, path: join(unified, parent, name), controllers: [] }]),
  ];
}

/**
 * Creates the cgroup of a Pod in every hierarchy of the host and sets its limits. Returns the
 * `cgroup.procs` files through which a process joins.
 *
 * @throws NodeAgentError if a limit cannot be set: nothing may run without it.
 */
export function createLocalCgroup(name: string, limits: LocalLimits): string[] {
  const all = directories(name);
  for (const { version, path, controllers: mounted } of all) {
    if (version === 2) enableControllers(path);
    mkdirSync(path, { recursive: true });
    if (mounted.includes("cpuset")) inheritCpuset(path);
  }
  setLimits(all, limits);
  return all.map(({ path }) => join(path, "cgroup.procs"));
}

/** On version 2 a controller reaches a child only where its parents pass it on. */
function enableControllers(path: string): void {
  const ours = join(path, "..");
  mkdirSync(ours, { recursive: true });
  for (const directory of [join(ours, ".."), ours]) {
    const known = readFileSync(join(directory, "cgroup.controllers"), "utf8").trim().split(" ");
    for (const controller of known.filter((name) => controllers.includes(name))) {
      // Refused if that cgroup has tasks of its own: then the limit's file is missing, which is
      // reported.
      tryWrite(join(directory, "cgroup.subtree_control"), `+${controller}`);
    }
  }
}

/** A new cpuset of version 1 is empty, and nothing can join it. */
function inheritCpuset(path: string): void {
  for (const directory of [join(path, ".."), path]) {
    for (const file of ["cpuset.mems", "cpuset.cpus"]) {
      if (readFileSync(join(directory, file), "utf8").trim() !== "") continue;
      writeFileSync(join(directory, file), readFileSync(join(directory, "..", file), "utf8"));
    }
  }
}

function setLimits(all: readonly CgroupDirectory[], limits: LocalLimits): void {
  const v1 = all.flatMap((directory) => directory.controllers);
  for (const { version, path, controllers: mounted } of all) {
    for (const write of planResources(version, resourcesOf(limits))) {
      const here =
        version === 1 ? mounted.includes(write.controller) : !v1.includes(write.controller);
      if (here) setLimit(path, write);
    }
  }
}

function resourcesOf({ memoryBytes, cpuQuota, cpuShares, pids }: LocalLimits): CgroupResources {
  return {
    memoryMaxBytes: memoryBytes,
    // Swapped-out memory does not count, and the swap belongs to the host.
    swapMaxBytes: 0,
    ...(cpuQuota ? { cpuQuota } : {}),
    ...(cpuShares === undefined ? {} : { cpuShares }),
    pidsMax: pids,
  };
}

/** Absent if the kernel does not account for swap: it has none, or accounting is off. */
const swapFiles: readonly string[] = ["memory.swap.max", "memory.memsw.limit_in_bytes"];

function setLimit(path: string, { file, value, controller }: CgroupWrite): void {
  const target = join(path, file);
  if (swapFiles.includes(file) && !existsSync(target)) return;
  try {
    // Without O_CREAT: what cannot be opened is a controller that is not there.
    writeFileSync(target, value, { flag: "r+" });
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const message = `the limit ${file} = ${value} cannot be set in ${path} (${why}); virtkit doctor shows whether this host has the controller "${controller}"`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: target, cause });
  }
}

function tryWrite(file: string, value: string): void {
  try {
    writeFileSync(file, value);
  } catch {
    // The caller says what follows from that.
  }
}

/**
 * The names of all Pods' cgroups on this host, of any state directory. Throws if they cannot be
 * listed.
 */
export function listLocalCgroups(): string[] {
  const names = directories("").flatMap(({ path }) => {
    try {
      const entries = readdirSync(path, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  });
  return [...new Set(names)].sort();
}

/** The processes in a Pod's cgroup; none if it is gone. */
export function localProcesses(name: string): number[] {
  const pids = directories(name).flatMap(({ path }) => {
    try {
      return readFileSync(join(path, "cgroup.procs"), "utf8")
        .split("\n")
        .filter(Boolean)
        .map(Number);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENODEV") return [];
      throw error;
    }
  });
  if (pids.includes(0)) {
    const message = `the cgroup ${name} has processes that cannot be seen from this PID namespace; try it from the host's`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: name });
  }
  return [...new Set(pids)];
}

/**
 * The first process of the Pod's PID namespace: the launcher, which is 1 there and has another
 * number here. Undefined if it has ended or not started.
 */
export function firstProcess(name: string): number | undefined {
  return localProcesses(name).find((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return /^NSpid:\s+\d+\s+1$/m.test(status);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

/** Kills everything in a Pod's cgroup, waits until it is empty, and removes it. Can be repeated. */
export async function removeLocalCgroup(
  name: string,
  { timeout = 30_000, clock }: Pick<UntilOptions, "timeout" | "clock"> = {},
): Promise<void> {
  let left: readonly CgroupDirectory[] = [];
  // Until the cgroup is gone, not only until it is empty: a process may start or join at any time.
  const isGone = (): boolean => {
    for (const pid of localProcesses(name)) signal(pid);
    left = directories(name).filter(({ path }) => !removeTree(path));
    return left.length === 0;
  };
  if (!(await until(isGone, { clock, interval: 20, timeout }))) {
    throw inUse(name, left[0]?.path ?? name);
  }
  for (const { path } of directories(name)) removeIfEmpty(dirname(path));
}

function inUse(name: string, path: string): NodeAgentError {
  const pids = localProcesses(name).join(", ");
  const message =
    pids === ""
      ? `the cgroup ${path} is still in use; try again`
      : `the processes ${pids} of the Pod do not end; check /proc/PID/stack, then try again`;
  return new NodeAgentError("AGENT_TIMEOUT", message, { path });
}

function signal(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The folder of all Pods is removed with the last one. */
function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Another Pod is there.
  }
}

/** Removes a cgroup, children first; false if one is in use. */
function removeTree(path: string): boolean {
  try {
    const children = readdirSync(path, { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    if (!children.every(({ name }) => removeTree(join(path, name)))) return false;
    rmdirSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    if (code === "EBUSY") return false;
    throw error;
  }
}
