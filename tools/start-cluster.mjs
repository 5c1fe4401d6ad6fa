import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadLab, packTestImages } from "./nodes/test-images.mjs";
import { root } from "./setup.mjs";
import { showCluster } from "./show-cluster.mjs";

const operator = path.join(root, "examples/operator/virtkit-operator.mjs");
const virtkit = path.join(root, "packages/cli/bin/virtkit.js");
/** How long each step may take, in milliseconds. */
const patience = 120_000;

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}

/**
 * Asks until the answer is one.
 * @template T
 * @param {string} what
 * @param {() => Promise<T | undefined>} ask
 * @param {AbortSignal} interrupted
 * @returns {Promise<T>}
 */
async function until(what, ask, interrupted) {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    interrupted.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(250);
  }
  throw new Error(`${what}: not after ${patience / 1000} s`);
}

/**
 * Starts a Kubernetes with two nodes on this host, installs the platform in it, and boots `demo` there. With `once` it stops
 * it again and prints what each handoff took; else it boots all VMs beside it, and shows them until Ctrl-C. Nothing is left on the host.
 * With `dev` the components run from this working tree.
 * @param {{ demo: string, image: string, once: boolean, dev: boolean }} options
 * @returns {Promise<number>} the exit code
 */
export async function startInCluster({ demo, image, once, dev }) {
  const { startCluster, testImages } = await loadLab();
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort(new Error("interrupted"));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, onSignal);
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-start-"));
  /** @type {AsyncDisposable | undefined} */
  let started;
  const start = Date.now();
  const told = (/** @type {string} */ what) =>
    say(`${((Date.now() - start) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  try {
    const images = await packTestImages(folder);
    told("images are packed");
    const directories = dev ? [root] : [];
    const cluster = await startCluster({ name: `start-${process.pid}`, images, directories });
    started = cluster;
    told(`a Kubernetes with ${cluster.nodes.length} nodes runs`);
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
    const tree = dev ? ["--working-tree", root] : [];
    const flags = ["--image", testImages.launcher, "--emulation", ...tree];
    const installed = spawnSync(process.execPath, [operator, "install", ...flags], {
      ...{ env, stdio: "inherit", timeout: 2 * patience },
    });
    if (installed.status !== 0) return installed.status ?? 1;
    told("the platform is installed");
    if (dev)
      say("Its components run from this working tree: what npx tsc -b builds starts them anew.");
    for (const file of once ? [demo] : manifestsBeside(demo)) {
      // No registry is reached from here: nodes have the demo's disk by another name.
      const manifest = readFileSync(file, "utf8").replace(image, testImages.disk);
      await cluster.kubectl(["apply", "-f", "-"], { input: manifest });
    }
    if (!once) return await showCluster(cluster, interrupt.signal);
    const address = await until(
      "the VMI has an address",
      async () => {
        const shown = await cluster.kubectl(["get", "vmi", "demo", "-o", "json"]);
        const { status = {} } = JSON.parse(shown);
        return status.phase === "Running" ? status.interfaces?.[0]?.ipAddress : undefined;
      },
      interrupt.signal,
    );
    told(`the VMI runs at ${address}`);
    const said = await until("the guest answers", () => reach(address), interrupt.signal);
    told(`the guest answers on its port: ${said}`);
    say(await cluster.kubectl(["get", "vmi", "-o", "wide"]));
    const why = ["why", "demo", "--kubeconfig", cluster.kubeconfig];
    spawnSync(process.execPath, [virtkit, ...why], { stdio: "inherit", timeout: 60_000 });
    await cluster.kubectl(["delete", "vmi", "demo", "--timeout=90s"], { timeout: 100_000 });
    told("the guest has ended");
    return 0;
  } finally {
    await started?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, onSignal);
  }
}

/** @param {string} file */
function manifestsBeside(file) {
  const folder = path.dirname(file);
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  return names.sort().map((name) => path.join(folder, name));
}

/**
 * @param {string} address
 * @returns {Promise<string | undefined>}
 */
async function reach(address) {
  try {
    const response = await fetch(`http://${address}/`, { signal: AbortSignal.timeout(5_000) });
    return (await response.text()).trim();
  } catch {
    // It boots: its network is there before its server.
    return undefined;
  }
}
