import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ownCgroupLayout, planResources } from "@virtkit/host-primitives/cgroups";
import { NodeAgentError } from "../node-agent-error.ts";

const parent = "virtkit";

/** The controllers that a Pod's cgroup is made for, where the host has them in version 1. */
const controllers = ["memory", "cpuset", "pids", "devices", "freezer"];

/** What a Pod may use. */
export interface LocalLimits {
  readonly memoryBytes: number;
}

/** The directories of a Pod's cgroup, one a hierarchy: on version 2 there is one. */
function directories(name: string): { version: 1 | 2; path: string; controller: string }[] {
  const { unified, controllers: v1 } = ownCgroupLayout();
  const found = new Map<string, { version: 1 | 2; path: string; controller: string }>();
  for (const controller of controllers) {
    const root = v1[controller];
    if (root === undefined) continue;
    const path = join(root, parent, name);
    found.set(path, { version: 1, path, controller });
  }
  if (unified !== undefined) {
    const path = join(unified, parent, name);
    found.set(path, { version: 2, path, controller: "unified" });
  }
  return [...found.values()];
}

/**
 * Makes the cgroup of a Pod in every hierarchy of the host and sets its limits, as far as there are
 * controllers for them. Returns the `cgroup.procs` files through which a process joins.
 */
export function createLocalCgroup(name: string, limits: LocalLimits): string[] {
  const all = directories(name);
  for (const { version, path, controller } of all) {
    if (version === 2) enableControllers(path);
    mkdirSync(path, { recursive: true });
    if (controller === "cpuset") inheritCpuset(path);
    setLimits(version, path, limits);
  }
  return all.map(({ path }) => join(path, "cgroup.procs"));
}

/** On version 2 a controller reaches a child only where its parents pass it on. */
function enableControllers(path: string): void {
  const ours = join(path, "..");
  mkdirSync(ours, { recursive: true });
  for (const directory of [join(ours, ".."), ours]) {
    const known = readFileSync(join(directory, "cgroup.controllers"), "utf8").trim().split(" ");
    for (const controller of known.filter((name) => controllers.includes(name))) {
      // Refused where this process's own cgroup has tasks beside: then that limit is not set.
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

function setLimits(version: 1 | 2, path: string, { memoryBytes }: LocalLimits): void {
  for (const { file, value } of planResources(version, { memoryMaxBytes: memoryBytes })) {
    if (existsSync(join(path, file))) writeFileSync(join(path, file), value);
  }
}

function tryWrite(file: string, value: string): void {
  try {
    writeFileSync(file, value);
  } catch {
    // The caller says what follows from that.
  }
}

/** The processes in a Pod's cgroup; none where it is gone. */
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
    const message = `the cgroup ${name} has processes that cannot be seen from this PID namespace; ask from the host's`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: name });
  }
  return [...new Set(pids)];
}

/**
 * The first process of the Pod's PID namespace: the launcher, which is 1 there and has another number
 * here. Undefined where it has ended or not begun.
 */
export function firstProcess(name: string): number | undefined {
  return localProcesses(name).find((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return /^NSpid:\s+\d+\s+1$/m.test(status);
    } catch {
      return false;
    }
  });
}

/** Kills all that is in a Pod's cgroup, waits until it is empty, and removes it. Repeating it is no fault. */
export async function removeLocalCgroup(name: string, timeout = 30_000): Promise<void> {
  const end = Date.now() + timeout;
  for (;;) {
    // Until the cgroup is gone, not only until it is empty: a process may be born, or may join, at any time.
    for (const pid of localProcesses(name)) signal(pid);
    const left = directories(name).filter(({ path }) => !removeTree(path));
    if (left.length === 0) break;
    if (Date.now() > end) throw inUse(name, left[0]?.path ?? name);
    await sleep(20);
  }
  for (const { path } of directories(name)) removeIfEmpty(dirname(path));
}

function inUse(name: string, path: string): NodeAgentError {
  const pids = localProcesses(name).join(", ");
  const message =
    pids === ""
      ? `the cgroup ${path} is still in use; try again`
      : `the processes ${pids} of the Pod do not end; look at /proc/PID/stack, then try again`;
  return new NodeAgentError("AGENT_TIMEOUT", message, { path });
}

function signal(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The folder of all Pods goes with its last one. */
function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Another Pod is there.
  }
}

/** Removes a cgroup, children first; false where one is in use. */
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
