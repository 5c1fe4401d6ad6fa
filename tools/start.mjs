#!/usr/bin/env node
/**
 * Boots a virtual machine from `examples/vms/demo.yaml`, on a guest image that it builds from Debian's
 * packages, and shows its handoffs and its console: `npm start`. Once the guest answers over TCP, it is moved into
 * another sandbox while requests continue, and the time without an answer is printed. Ctrl-C stops and removes it.
 * The image stays where `virtkit run -f examples/vms/demo.yaml` finds it.
 *
 * `npm start -- --once`: boots until the guest agent answers, reaches the guest over TCP, moves it, stops it, prints
 * how long each handoff took, and exits 0. `npm start -- --cluster`: the VMs of `examples/vms` in a Kubernetes cluster with two
 * nodes on this host, in which the platform is installed; with `--dev` its components run from this working tree, and restart when
 * a file is built. `npm start -- --cluster --once`: boots the VM of `examples/vms/web.yaml` there until it is ready, reaches it
 * over TCP, stops it, prints when each handoff happened, and exits 0, or 1 with the reason. `npm start -- --explain [FILE]`: boots nothing; shows what a VMI
 * becomes, stage by stage. The order of options does not matter. `npm start -- --help` lists them.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { keepAsking } from "./ask-guest.mjs";
import { root, setUpLocalMode, setUpTier, setUpWorkspace, step } from "./setup.mjs";
import { help, startOptions } from "./start-options.mjs";

const virtkit = path.join(root, "packages/cli/bin/virtkit.js");
const demo = path.join(root, "examples/vms/demo.yaml");
/** The image that the demo names, and the port on which its guest answers. */
const image = "registry.example/virtkit/demo:latest";
const guestPort = 80;

/** The stages of the pipeline that have a command, in order. */
const stages = [
  { title: "Is it a valid VMI?", command: "validate" },
  { title: "What the API server would store: the VMI with its defaults", command: "default" },
  { title: "What Kubernetes would run: the launcher Pod", command: "pod" },
  { title: "What libvirt would run: the domain", command: "convert" },
];

/** @param {string} file @returns {number} */
function explain(file) {
  for (const { title, command } of stages) {
    const shown = path.relative(".", file);
    process.stdout.write(`\n=== ${title}\n$ npx virtkit ${command} -f ${shown}\n\n`);
    const line = [virtkit, command, "-f", file];
    const { status } = spawnSync(process.execPath, line, { stdio: "inherit" });
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

/**
 * Runs `virtkit` on the terminal of this process, and returns its exit code. Signals from the terminal reach
 * it, too, and it must handle them.
 * @param {string[]} args
 * @returns {Promise<number>}
 */
async function run(...args) {
  const child = spawn(process.execPath, [virtkit, ...args], { stdio: "inherit" });
  /** @param {NodeJS.Signals} signal */
  const pass = (signal) => child.kill(signal);
  const ignore = () => {};
  process.on("SIGINT", ignore);
  process.on("SIGTERM", pass);
  try {
    return await new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? 1));
    });
  } finally {
    process.off("SIGINT", ignore);
    process.off("SIGTERM", pass);
  }
}

/** @returns {Promise<number>} an unused port of this host */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "0.0.0.0", () => resolve(undefined)));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

/** @returns {Promise<string>} the path of the guest's disk */
async function guest() {
  const lab = path.join(root, "packages/lab/dist/index.js");
  const { guestDisk } = await import(pathToFileURL(lab).href);
  let disk = "";
  await step(
    "guest image, built once from Debian's kernel, busybox and qemu-guest-agent",
    async () => {
      disk = await guestDisk();
    },
  );
  return disk;
}

/**
 * Puts the demo's disk where `virtkit run` looks for images by name, so that the demo runs without further
 * options, and says where it is. A copy: removing the cache does not break the demo.
 * @param {string} disk
 */
async function keepImage(disk) {
  const local = path.join(root, "packages/local/dist/index.js");
  const { fileName } = await import(pathToFileURL(local).href);
  const state = path.resolve(process.env["VIRTKIT_STATE_DIR"] || "/var/lib/virtkit");
  const kept = path.join(state, "images", `${fileName(image)}.qcow2`);
  const found = statSync(kept, { throwIfNoEntry: false });
  const isNew = statSync(disk).mtimeMs > (found?.mtimeMs ?? 0);
  if (isNew) {
    mkdirSync(path.dirname(kept), { recursive: true });
    const fresh = `${kept}.${process.pid}`;
    copyFileSync(disk, fresh);
    renameSync(fresh, kept);
  }
  process.stdout.write(`Image of the demo: ${kept}\n`);
  process.stdout.write(
    "Run it again at any time: sudo npx virtkit run -f examples/vms/demo.yaml\n",
  );
}

/**
 * @param {number} port
 * @param {AbortSignal} interrupted
 * @param {number} [timeout]
 * @returns {Promise<string>} what the guest answers
 */
async function reach(port, interrupted, timeout = 60_000) {
  const end = Date.now() + timeout;
  for (;;) {
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(5_000), interrupted]);
      const response = await fetch(`http://127.0.0.1:${port}/`, { signal });
      return (await response.text()).trim();
    } catch (error) {
      if (Date.now() > end || interrupted.aborted) throw error;
      await sleep(250);
    }
  }
}

/**
 * Moves the guest into another sandbox of this host while requests continue, and says for how long it did
 * not answer.
 * @param {number} port
 * @param {() => Promise<number>} migrate
 * @returns {Promise<{ code: number, text: string }>}
 */
async function moveWhileAsked(port, migrate) {
  const asking = keepAsking(port);
  // Before and after, so that the usual time between two answers is known.
  await sleep(500);
  const code = await migrate();
  await sleep(1000);
  const { answers, longestMs, usualMs } = await asking.stop();
  const text =
    code === 0
      ? `Moved while it answered requests: downtime ${longestMs} ms, the longest time without an answer (usually ${usualMs} ms; ${answers} answers)`
      : "It did not move, and still answers where it was";
  return { code, text };
}

/** @param {string} disk @returns {Promise<number>} */
async function once(disk) {
  // Only for this run, so that it does not disturb other VMIs of the user.
  const state = mkdtempSync(path.join(tmpdir(), "virtkit-once-"));
  const there = ["--state-dir", state];
  const port = await freePort();
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort(new Error("interrupted"));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, onSignal);
  try {
    const ports = ["--publish", `${port}:${guestPort}`];
    const wait = ["--detach", "--wait", "agent-connected"];
    const code = await run(
      "run",
      "-f",
      demo,
      "--image",
      `${image}=${disk}`,
      ...ports,
      ...wait,
      ...there,
    );
    if (code !== 0) return code;
    process.stdout.write(
      `Guest, through port ${port} of this host: ${await reach(port, interrupt.signal)}\n`,
    );
    const moved = await moveWhileAsked(port, () => run("migrate", "demo", "--watch", ...there));
    process.stdout.write(`${moved.text}\n`);
    process.stdout.write(`Guest, through the same port: ${await reach(port, interrupt.signal)}\n`);
    const stopped = (await run("stop", "demo", ...there)) || moved.code;
    await run("why", "demo", ...there);
    return stopped;
  } finally {
    const isGone = () => !existsSync(path.join(state, "vmis/default_demo.json"));
    if (isGone() || (await run("rm", "--now", "demo", ...there)) === 0) {
      rmSync(state, { recursive: true, force: true });
    } else {
      const next = `npx virtkit rm --now demo --state-dir ${state}`;
      process.stderr.write(`start: demo was not removed; run: ${next}\n`);
    }
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, onSignal);
  }
}

/** @param {string} disk @returns {Promise<number>} */
async function interactive(disk) {
  const port = await freePort();
  const ports = ["--publish", `${port}:${guestPort}`];
  process.stdout.write(`Once it is up: curl http://localhost:${port}/\n`);
  const over = new AbortController();
  const showing = showMove(port, over.signal);
  try {
    const vm = ["run", "-f", demo, "--image", `${image}=${disk}`];
    return await run(...vm, ...ports, "--rm-on-interrupt");
  } finally {
    over.abort(new Error("it has ended"));
    await showing;
  }
}

/**
 * Moves the guest under the console that shows it, once it answers: the console follows.
 * @param {number} port
 * @param {AbortSignal} over
 */
async function showMove(port, over) {
  // The terminal may be raw.
  /** @param {string} line */
  const say = (line) => process.stdout.write(`\r\n${line}\r\n`);
  try {
    await reach(port, over, 600_000);
    if (over.aborted) return;
    say("It answers. Now it moves into another sandbox on this host, while requests continue.");
    const { text } = await moveWhileAsked(port, quietMigrate);
    if (!over.aborted) say(text);
  } catch (error) {
    // A guest that ended before it answered has nothing to show.
    if (!over.aborted) say(`It was not moved: ${error instanceof Error ? error.message : error}`);
  }
}

/** @returns {Promise<number>} */
async function quietMigrate() {
  const child = spawn(process.execPath, [virtkit, "migrate", "demo"], { stdio: "ignore" });
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

async function main() {
  const options = startOptions(process.argv.slice(2));
  if (options.mode === "help") {
    process.stdout.write(help);
    return 0;
  }
  if (options.mode === "cluster" && process.getuid?.() !== 0) {
    const line = ["npm start --", ...process.argv.slice(2)].join(" ");
    throw new Error(`a cluster on this host needs root; run: sudo ${line}`);
  }
  await setUpWorkspace();
  if (options.mode === "explain") return explain(path.resolve(options.file ?? demo));
  if (options.mode === "cluster") {
    const missing = await setUpTier("nodes");
    if (missing.length > 0) throw new Error(missing.join("; "));
    const { startInCluster } = await import("./start-cluster.mjs");
    const { once, dev } = options;
    return await startInCluster({ folder: path.dirname(demo), image, once, dev });
  }
  const reasons = await setUpLocalMode();
  if (reasons.length > 0) {
    throw new Error(`${reasons.join("; ")}. This needs nothing: npm start -- --explain`);
  }
  const disk = await guest();
  await keepImage(disk);
  return options.once ? await once(disk) : await interactive(disk);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
