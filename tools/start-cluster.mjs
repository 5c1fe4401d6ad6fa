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
 * Retries until there is an answer.
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
 * Starts a Kubernetes cluster with two nodes on this host, installs the platform in it, and boots `demo` there. With
 * `once` it stops the guest again and prints how long each handoff took; otherwise it boots all VMs in the same
 * folder, and shows them until Ctrl-C. Nothing is left on the host. With `dev` the components run from this
 * working tree.
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
    const { signal } = interrupt;
    const name = `start-${process.pid}`;
    const cluster = await startCluster({ name, images, directories, signal });
    started = cluster;
    told(`a Kubernetes with ${cluster.nodes.length} nodes runs`);
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
    const tree = dev ? ["--working-tree", root] : [];
    const flags = ["--image", testImages.launcher, "--emulation", ...tree];
    const installed = spawnSync(process.execPath, [operator, "install", ...flags], {
      ...{ env, stdio: "inherit", timeout: 2 * patience },
    });
    // A terminal sends Ctrl-C to the child, too, and this process learns of it only later.
    if (installed.signal === "SIGINT") throw new Error("interrupted");
    if (installed.status !== 0) return installed.status ?? 1;
    told("the platform is installed");
    if (dev)
      say(
        "Its components run from this working tree, and restart when npx tsc -b builds something.",
      );
    for (const file of once ? [demo] : manifestsBeside(demo)) {
      // No registry is reachable from here: nodes have the demo's disk under another name.
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
    if (started) say("Stopping the cluster ...");
    await started?.[Symbol.asyncDispose]();
    if (started) told("nothing of it is left");
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
    // The guest is still booting: its network is up before its server.
    return undefined;
  }
}
