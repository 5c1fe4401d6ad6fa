import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */
/** @typedef {import("node:child_process").ChildProcess} ChildProcess */
/** @typedef {"ours" | "controlled" | "client-node"} Kind */

const objects = 10_000;
const few = 1_000;
const changesOfRound = 5_000;

/** @param {string} file @param {string[]} args */
async function start(file, ...args) {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(program, args, { execArgv: ["--expose-gc"] });
  const [hello] = await once(child, "message");
  return { child, hello };
}

/** @param {ChildProcess} child @param {object} question */
async function ask(child, question) {
  const answered = once(child, "message");
  child.send(question);
  const [answer] = await answered;
  return answer;
}

/** @param {ChildProcess | undefined} child */
async function end(child) {
  if (!child || child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

/** A server and one process that watches it. @param {Kind} kind @param {number} count */
async function watched(kind, count) {
  const { child: server, hello } = await start("watched-server.mjs");
  await ask(server, { count });
  const { child } = await start("watching-process.mjs", kind, `http://127.0.0.1:${hello.port}`);
  /** Until the server has a watch, it has nobody to send changes to. */
  const opened = async () => {
    while ((await ask(server, {})).watches === 0) await new Promise(setImmediate);
  };
  return {
    sync: async () => {
      await ask(child, { do: "sync" });
      await opened();
      return count;
    },
    /** @param {number} changes */
    change: async (changes) => {
      await Promise.all([ask(server, { send: changes }), ask(child, { do: "await", changes })]);
      return changes;
    },
    memory: async () => (await ask(child, { do: "memory" })).kilobytes,
    close: async () => {
      await end(child);
      await end(server);
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof watched>>} Watched */

/** @type {Map<Kind, Promise<Watched>>} */
const running = new Map();

/** @param {Kind} kind */
function prepare(kind) {
  return async () => {
    const isNew = !running.has(kind);
    const started = running.get(kind) ?? watched(kind, objects);
    running.set(kind, started);
    const it = await started;
    if (isNew) await it.sync();
    return it;
  };
}

async function close() {
  for (const started of running.values()) await (await started).close();
  running.clear();
}

/** Kilobytes of a process that knows so many objects. @param {Kind} kind @param {number} count */
async function memoryWith(kind, count) {
  const it = await watched(kind, count);
  await it.sync();
  const kilobytes = await it.memory();
  await it.close();
  return kilobytes;
}

/** Kilobytes an object: the slope between few and many, the median of three. @param {Kind} kind */
async function slope(kind) {
  const slopes = [];
  for (let round = 0; round < 3; round++) {
    const [less, more] = [await memoryWith(kind, few), await memoryWith(kind, objects)];
    slopes.push((more - less) / (objects - few));
  }
  return slopes.sort((one, other) => one - other)[1] ?? Number.NaN;
}

/** Megabytes after so many changes, and after ten times as many. */
async function flatness() {
  const it = await watched("ours", objects);
  await it.sync();
  await it.change(100_000);
  const early = await it.memory();
  await it.change(900_000);
  const late = await it.memory();
  await it.close();
  return `${mega(early)} MB after 100,000 changes, ${mega(late)} after 1,000,000`;
}

const mega = (/** @type {number} */ kilobytes) => (kilobytes / 1024).toFixed(1);

let memory = "";
async function measureMemory() {
  if (!existsSync("/proc/self/status")) return "memory is read from /proc";
  const [ours, theirs] = [await slope("ours"), await slope("client-node")];
  const times = (theirs / ours).toFixed(1);
  memory = `${ours.toFixed(2)} KiB an object, client-node ${theirs.toFixed(2)}: ${times} times less; ${await flatness()}`;
  return true;
}

/** @type {Benchmark[]} */
export const benchmarks = [
  {
    name: "kube: an update of one of 10,000 objects, through reflector and cache",
    clock: "wall",
    goal: "at least 2",
    close,
    subject: {
      name: "reflector and cache",
      prepare: prepare("ours"),
      run: (/** @type {Watched} */ { change }) => change(changesOfRound),
    },
    baseline: {
      name: "client-node's informer",
      prepare: prepare("client-node"),
      run: (/** @type {Watched} */ { change }) => change(changesOfRound),
    },
  },
  {
    name: "kube: an update of one of 10,000 objects, through reflector, cache, queue and reconcile",
    clock: "wall",
    goal: "at least 2",
    close,
    subject: {
      name: "a controller that does nothing",
      prepare: prepare("controlled"),
      run: (/** @type {Watched} */ { change }) => change(changesOfRound),
    },
    baseline: {
      name: "client-node's informer",
      prepare: prepare("client-node"),
      run: (/** @type {Watched} */ { change }) => change(changesOfRound),
    },
  },
  {
    name: "kube: an object of 10,000 as a cache syncs",
    clock: "wall",
    available: measureMemory,
    get goal() {
      return `under 25 KiB of memory an object, 3 times less than client-node, flat; ${memory}`;
    },
    close,
    subject: {
      name: "reflector and cache",
      prepare: prepare("ours"),
      run: (/** @type {Watched} */ { sync }) => sync(),
    },
    baseline: {
      name: "client-node's informer",
      prepare: prepare("client-node"),
      run: (/** @type {Watched} */ { sync }) => sync(),
    },
  },
];
