import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bootOnce } from "./boot-once.mjs";
import { loadLab, packTestImages } from "./nodes/test-images.mjs";
import { root } from "./setup.mjs";
import { showCluster } from "./show-cluster.mjs";

const operator = path.join(root, "examples/operator/virtkit-operator.mjs");
/** How long the installation may take, in milliseconds. */
const patience = 240_000;
/** The VM that is booted once. */
const example = "web.yaml";

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}

/**
 * Installs the platform. The child has its own session, so that a Ctrl-C reaches it only through the signal, and in order.
 * @param {readonly string[]} flags
 * @param {{ kubeconfig: string, signal: AbortSignal }} place
 */
async function installPlatform(flags, { kubeconfig, signal }) {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [operator, "install", ...flags], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    ...{ stdio: ["ignore", "inherit", "inherit"], detached: true, timeout: patience },
  });
  const end = () => child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    if (code === 0) return;
    const how = child.killed ? `not in ${patience / 1000} s` : `exit code ${code}`;
    throw new Error(`the platform was not installed: ${how}`);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/**
 * Starts a Kubernetes cluster with two nodes on this host, installs the platform in it, and boots the VMs of a folder there, which
 * it shows until Ctrl-C. With `once` it boots one of them until it is ready, reaches its guest, stops it, and prints the
 * timeline of its start; if any of this does not succeed, it rejects with the reason. Nothing is left on the host.
 * With `dev` the components run from this working tree.
 * @param {{ folder: string, image: string, once: boolean, dev: boolean }} options
 * @returns {Promise<number>} the exit code
 */
export async function startInCluster({ folder: examples, image, once, dev }) {
  const { startCluster, testImages } = await loadLab();
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort(new Error("interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, onSignal);
  // A terminal that was closed, or a pipe whose reader has ended, ends the cluster like Ctrl-C does.
  process.stdout.on("error", onSignal);
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
    const tree = dev ? ["--working-tree", root] : [];
    const flags = ["--image", testImages.launcher, "--emulation", ...tree];
    await installPlatform(flags, { kubeconfig: cluster.kubeconfig, signal });
    told("the platform is installed");
    if (dev)
      say(
        "Its components run from this working tree, and restart when npx tsc -b builds something.",
      );
    /** No registry is reachable from here: nodes have the demo's disk under another name. */
    const manifestOf = (/** @type {string} */ name) =>
      readFileSync(path.join(examples, name), "utf8").replaceAll(image, testImages.disk);
    if (!once) {
      const names = readdirSync(examples).filter((name) => name.endsWith(".yaml"));
      for (const name of names.sort()) {
        await cluster.kubectl(["apply", "-f", "-"], { input: manifestOf(name) });
      }
      return await showCluster(cluster, signal);
    }
    say(await bootOnce(cluster, { manifest: manifestOf(example), told, signal }));
    return 0;
  } finally {
    if (started) say("Stopping the cluster ...");
    await started?.[Symbol.asyncDispose]();
    if (started) told("nothing of it is left");
    rmSync(folder, { recursive: true, force: true });
    for (const signal of signals) process.off(signal, onSignal);
  }
}
