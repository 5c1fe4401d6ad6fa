// Programs that take all the CPU, processes and memory that they can get, in cgroups of local mode with limits and,
// as the control, without. Argument: the module with createLocalCgroup and removeLocalCgroup. Prints what was
// measured as one line of JSON. The same program runs on the host and in a guest that has only cgroup v2.
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** @typedef {import("../local-limits.ts").LocalLimits} Limits */
/**
 * @typedef {object} Inside
 * @property {string} name
 * @property {readonly string[]} directories
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
  const directories = procs.map((file) => dirname(file));
  /** @type {Inside["read"]} */
  const read = (file) => {
    const path = directories.map((each) => join(each, file)).find((each) => existsSync(each));
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
    result = await attack({ name, directories, read, start });
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

/** The highest weights that a cgroup can have, in version 1 and 2. */
const weights = { "cpu.shares": "262144", "cpu.weight": "10000" };

/**
 * Has the kernel prefer the cgroup of all Pods to the rest of a busy host, which would hold the loops back as a quota does.
 * Returns a function that restores it.
 *
 * @param {readonly string[]} directories @returns {() => void}
 */
function preferred(directories) {
  const files = directories.flatMap((each) =>
    Object.entries(weights).map(([file, most]) => ({ path: join(dirname(each), file), most })),
  );
  const found = files
    .filter(({ path }) => existsSync(path))
    .map((each) => ({ ...each, before: readFileSync(each.path, "utf8") }));
  for (const { path, most } of found) writeFileSync(path, most);
  return () => {
    for (const { path, before } of found) writeFileSync(path, before);
  };
}

/** How much of a CPU separates a quota of a tenth from none. */
const border = 0.15;

/**
 * Two endless loops, watched until they have used some time together, and their share of a CPU is what it should be, for a
 * minute at most. On a busy host an emulated CPU stands still while its clock goes on, and all of that counts as used. The kernel
 * takes it back from later periods: only in the long run the share is the quota.
 *
 * @param {Limits} limits @param {(share: number) => boolean} isRight
 */
function burn(limits, isRight) {
  return within(limits, async ({ directories, read, start }) => {
    const restore = preferred(directories);
    let share = Number.NaN;
    try {
      const loops = [1, 2].map(() => start("/bin/sh", "-c", "while :; do :; done"));
      const begin = performance.now();
      for (let seconds = 0; seconds < 60; ) {
        await sleep(20);
        const used = loops.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
        seconds = (performance.now() - begin) / 1000;
        share = used / seconds;
        if (used > 0.3 && isRight(share)) break;
      }
    } finally {
      restore();
    }
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
    limited: await burn({ ...wide, cpuQuota: tenth, cpuShares: 512 }, (share) => share < border),
    free: await burn(wide, (share) => share > border),
  },
  pids: { limited: await fork({ ...wide, pids: 40 }), free: await fork(wide) },
  memory: {
    limited: await hog({ ...wide, memoryBytes: 128 * mebibyte }, 256),
    free: await hog(wide, 256),
  },
};
process.stdout.write(`${JSON.stringify(result)}\n`);
