// Programs that take all the CPU, processes and memory that they can get, in cgroups of local mode with limits and,
// as the control, without. Argument: the module with createLocalCgroup and removeLocalCgroup. Prints what was
// measured as one line of JSON. The same program runs on the host and in a guest that has only cgroup v2.
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** @typedef {import("../local-limits.ts").LocalLimits} Limits */
/**
 * @typedef {object} Inside
 * @property {string} name
 * @property {(file: string) => string | undefined} read
 * @property {(command: string, ...args: string[]) => import("node:child_process").ChildProcess} start
 */

const [module = ""] = process.argv.slice(2);
/** @type {typeof import("../local-cgroup.ts")} */
const { createLocalCgroup, localProcesses, removeLocalCgroup } = await import(module);

const mebibyte = 2 ** 20;
/** High enough not to limit any of the attacks. */
const wide = { memoryBytes: 512 * mebibyte, pids: 1000 };
/** Where the forker stops by itself, so that the control is harmless. */
const mostForks = 120;

/** @param {string} what @param {() => boolean} condition @returns {Promise<void>} */
async function until(what, condition, patience = 60_000) {
  const end = Date.now() + patience;
  for (;;) {
    if (condition()) return;
    if (Date.now() > end) throw new Error(`not seen in ${patience} ms: ${what}`);
    await sleep(20);
  }
}

/**
 * Runs an attack in a new cgroup, and removes the cgroup with everything in it.
 *
 * @template T @param {Limits} limits @param {(inside: Inside) => Promise<T>} attack @returns {Promise<T>}
 */
async function within(limits, attack) {
  const name = randomUUID();
  const procs = createLocalCgroup(name, limits);
  /** @type {Inside["read"]} */
  const read = (file) => {
    const path = procs.map((each) => join(dirname(each), file)).find((each) => existsSync(each));
    return path === undefined ? undefined : readFileSync(path, "utf8").trim();
  };
  /** @type {Inside["start"]} */
  const start = (command, ...args) => {
    const joined = procs.map((file) => `echo $$ > ${file}; `).join("");
    const line = ["-c", `${joined}exec "$@"`, "sh", command, ...args];
    return spawn("/bin/sh", line, { stdio: "ignore" });
  };
  let result;
  try {
    result = await attack({ name, read, start });
  } finally {
    await removeLocalCgroup(name);
  }
  const left = procs.filter((file) => existsSync(file));
  if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
  return result;
}

/** Seconds of CPU that a process has used: fields 14 and 15, in ticks of 10 ms. @param {number} [pid] */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Two endless loops, watched until they have used `seconds` together. @param {Limits} limits @param {number} seconds */
function burn(limits, seconds) {
  return within(limits, async ({ read, start }) => {
    const loops = [1, 2].map(() => start("/bin/sh", "-c", "while :; do :; done"));
    const used = () => loops.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
    const before = { used: used(), at: performance.now() };
    await until("CPU time", () => used() - before.used > seconds);
    const share = (used() - before.used) / ((performance.now() - before.at) / 1000);
    const throttled = Number(/^nr_throttled (\d+)/m.exec(read("cpu.stat") ?? "")?.[1]);
    return { share, throttled, quota: read("cpu.max") ?? read("cpu.cfs_quota_us") };
  });
}

/** Forks until it is refused or has reached its own limit, and keeps running. @param {Limits} limits */
function fork(limits) {
  const script = `i=0; while [ $i -lt ${mostForks} ]; do sleep 600 & i=$((i+1)); done; wait`;
  return within(limits, async ({ name, read, start }) => {
    let ended = false;
    start("/bin/sh", "-c", script).once("exit", () => {
      ended = true;
    });
    await until("all forks", () => ended || localProcesses(name).length > mostForks);
    return {
      processes: localProcesses(name).length,
      refused: /max [1-9]/.test(read("pids.events") ?? ""),
      hostForks: spawnSync("/bin/sh", ["-c", "exit 7"]).status === 7,
      max: read("pids.max"),
    };
  });
}

/** Fills memory with non-zero bytes, and reports success by its exit code. @param {Limits} limits @param {number} mebibytes */
function hog(limits, mebibytes) {
  const script = `const kept = []; for (let i = 0; i < ${mebibytes}; i++) kept.push(Buffer.alloc(${mebibyte}, i + 1)); process.exit(kept.length === ${mebibytes} ? 9 : 8)`;
  return within(limits, async ({ read, start }) => {
    const child = start(process.execPath, "-e", script);
    const end = await new Promise((resolve) =>
      child.once("exit", (code, signal) => resolve(signal ?? code)),
    );
    return { end, max: read("memory.max") ?? read("memory.limit_in_bytes") };
  });
}

const tenth = { quotaUs: 10_000, periodUs: 100_000 };
const result = {
  unified: !existsSync("/sys/fs/cgroup/memory") && existsSync("/sys/fs/cgroup/cgroup.controllers"),
  cpu: {
    limited: await burn({ ...wide, cpuQuota: tenth, cpuShares: 512 }, 0.3),
    free: await burn(wide, 1),
  },
  pids: { limited: await fork({ ...wide, pids: 40 }), free: await fork(wide) },
  memory: {
    limited: await hog({ ...wide, memoryBytes: 128 * mebibyte }, 256),
    free: await hog(wide, 256),
  },
};
process.stdout.write(`${JSON.stringify(result)}\n`);
