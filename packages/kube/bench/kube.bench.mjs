import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { watchers } from "./watchers.mjs";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */
/** @typedef {import("node:child_process").ChildProcess} ChildProcess */
/** @typedef {keyof typeof watchers} Kind */

const objects = 10_000;
const few = 1_000;
const changesOfRound = 2_000;

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

/** @param {ChildProcess} child */
async function end(child) {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

/** What plays the API server, in its own process. @param {number} count */
async function startServer(count) {
  const { child, hello } = await start("watched-server.mjs");
  await ask(child, { count });
  return {
    url: `http://127.0.0.1:${hello.port}`,
    /** Until it has a watch, it has nobody to send changes to. */
    watched: async () => {
      while ((await ask(child, {})).watches === 0) await new Promise(setImmediate);
    },
    /** @param {number} changes */
    send: (changes) => ask(child, { send: changes }),
    close: () => end(child),
  };
}

/** A server, and who watches it in this process: only the latter's time counts. @param {Kind} kind */
async function watch(kind) {
  const server = await startServer(objects);
  let missing = 0;
  /** @type {() => void} */
  let done = () => {};
  const changed = () => {
    if (--missing === 0) done();
  };
  const sync = () => watchers[kind](server.url, changed);
  let watcher = await sync();
  return {
    /** @param {number} changes */
    change: async (changes) => {
      await server.watched();
      missing = changes;
      const seen = new Promise((resolve) => {
        done = () => resolve(undefined);
      });
      await Promise.all([server.send(changes), seen]);
      return changes;
    },
    sync: async () => {
      await watcher.stop();
      watcher = await sync();
      return watcher.size();
    },
    close: async () => {
      await watcher.stop();
      await server.close();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof watch>>} Watch */

/** @type {Map<Kind, Promise<Watch>>} */
const running = new Map();

/** @param {Kind} kind */
const prepare = (kind) => () => {
  const started = running.get(kind) ?? watch(kind);
  running.set(kind, started);
  return started;
};

async function close() {
  for (const started of running.values()) await (await started).close();
  running.clear();
}

/** A server, and who watches it in its own process. @param {Kind} kind @param {number} count */
async function watchApart(kind, count) {
  const server = await startServer(count);
  const { child } = await start("watching-process.mjs", kind, server.url);
  return {
    memory: async () => (await ask(child, {})).kilobytes,
    /** @param {number} changes */
    change: async (changes) => {
      await server.watched();
      await Promise.all([server.send(changes), ask(child, { changes })]);
    },
    close: async () => {
      await end(child);
      await server.close();
    },
  };
}

/**
 * Kilobytes of a process that holds this many objects: right after it has synced, and after it has seen changes for a while.
 * @param {Kind} kind
 * @param {number} count
 */
async function memoryWith(kind, count) {
  const it = await watchApart(kind, count);
  const synced = await it.memory();
  await it.change(20_000);
  const atWork = await it.memory();
  await it.close();
  return { synced, atWork };
}

/** Kilobytes an object: the slopes between few and many, the medians of three. @param {Kind} kind */
async function slopes(kind) {
  const rounds = [];
  for (let round = 0; round < 3; round++) {
    const [less, more] = [await memoryWith(kind, few), await memoryWith(kind, objects)];
    const slope = (/** @type {"synced" | "atWork"} */ when) =>
      (more[when] - less[when]) / (objects - few);
    rounds.push({ synced: slope("synced"), atWork: slope("atWork") });
  }
  const median = (/** @type {"synced" | "atWork"} */ when) =>
    rounds.map((round) => round[when]).sort((one, other) => one - other)[1] ?? Number.NaN;
  return { synced: median("synced"), atWork: median("atWork") };
}

/** Megabytes after so many changes, and after ten times as many. */
async function flatness() {
  const it = await watchApart("ours", objects);
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
  if (!existsSync("/proc/self/status")) return "needs /proc to read memory";
  const [ours, theirs] = [await slopes("ours"), await slopes("client-node")];
  const compared = (/** @type {"synced" | "atWork"} */ when) =>
    `${ours[when].toFixed(1)} KiB, client-node ${theirs[when].toFixed(1)}`;
  memory = `synced ${compared("synced")}; at work ${compared("atWork")}; ${await flatness()}`;
  return true;
}

/**
 * @param {string} name
 * @param {(watch: Watch) => Promise<number>} run
 * @returns {Benchmark}
 */
const beside = (name, run) => ({
  name: `kube: ${name}`,
  close,
  subject: { name: "reflector and cache", prepare: prepare("ours"), run },
  baseline: { name: "client-node's informer", prepare: prepare("client-node"), run },
});

/** @type {Benchmark[]} */
export const benchmarks = [
  {
    ...beside("an update of one of 10,000 objects of 3 KiB", ({ change }) =>
      change(changesOfRound),
    ),
    goal: "at least 2",
  },
  {
    ...beside("the same, through a queue to a reconciler that does nothing", ({ change }) =>
      change(changesOfRound),
    ),
    subject: {
      name: "a controller",
      prepare: prepare("controlled"),
      run: ({ change }) => change(changesOfRound),
    },
    goal: "at least 2",
  },
  {
    ...beside("an object as a cache of 10,000 syncs", ({ sync }) => sync()),
    available: measureMemory,
    get goal() {
      return `under 25 KiB of memory an object, 3 times less than client-node, flat; ${memory}`;
    },
  },
];
