#!/usr/bin/env node
/**
 * Starts a Kubernetes cluster on this host and opens a shell with `kubectl` for it: `npm run cluster`. When the
 * shell ends, nothing of the cluster is left.
 *
 * `npm run cluster -- --nodes 3` starts this many nodes. `npm run cluster -- --cycles 20` starts and ends a cluster
 * this many times, and prints how long each took and whether anything was left.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { clusterLeftovers } from "./cluster-leftovers.mjs";
import { loadLab, packTestImages } from "./nodes/test-images.mjs";
import { setUpTier, setUpWorkspace } from "./setup.mjs";

/** @param {string} text */
function say(text) {
  process.stderr.write(`cluster: ${text}\n`);
}

/** @param {number} start */
function since(start) {
  return `${((Date.now() - start) / 1000).toFixed(1)} s`;
}

/** @param {number} nodes */
async function openShell(nodes) {
  const { startCluster } = await loadLab();
  const start = Date.now();
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-cluster-"));
  const images = await packTestImages(folder);
  const onProgress = (/** @type {string} */ what) => say(`${what} after ${since(start)}`);
  const cluster = await startCluster({ name: `shell-${process.pid}`, nodes, images, onProgress });
  rmSync(folder, { recursive: true });
  try {
    const programs = process.env["VIRTKIT_KUBERNETES"];
    const env = {
      ...process.env,
      KUBECONFIG: cluster.kubeconfig,
      PATH: `${programs}:${process.env["PATH"]}`,
      PS1: "cluster$ ",
    };
    for (const { reference } of images) say(`nodes have the image ${reference}`);
    say("this shell has kubectl; the cluster ends when you leave it");
    // A user's shell reads start-up files that would reset the prompt and the PATH.
    const shell = spawn("bash", ["--norc", "--noprofile"], { env, stdio: "inherit" });
    process.on("SIGINT", () => {});
    await new Promise((resolve) => shell.once("close", resolve));
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
}

/** @param {number} cycles @param {number} nodes */
async function runCycles(cycles, nodes) {
  const { startCluster } = await loadLab();
  const before = clusterLeftovers();
  const ups = [];
  const downs = [];
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const start = Date.now();
    const cluster = await startCluster({ name: `cycle-${process.pid}`, nodes });
    const up = Date.now();
    await cluster[Symbol.asyncDispose]();
    const down = Date.now();
    ups.push(up - start);
    downs.push(down - up);
    const left = clusterLeftovers().filter((each) => !before.includes(each));
    const state = left.length === 0 ? "nothing left" : `left: ${left.join("; ")}`;
    say(`${cycle} of ${cycles}: up ${up - start} ms, down ${down - up} ms, ${state}`);
    if (left.length > 0)
      throw new Error(`a cluster that has ended left behind: ${left.join("; ")}`);
  }
  const median = (/** @type {number[]} */ all) => all.sort((a, b) => a - b)[all.length >> 1];
  say(`median of ${cycles}: up ${median(ups)} ms, down ${median(downs)} ms`);
}

async function main() {
  const { values } = parseArgs({
    options: { nodes: { type: "string" }, cycles: { type: "string" } },
  });
  const nodes = Number(values.nodes ?? 2);
  await setUpWorkspace();
  const reasons = await setUpTier("nodes");
  if (reasons.length > 0) throw new Error(reasons.join("; "));
  if (values.cycles) await runCycles(Number(values.cycles), nodes);
  else await openShell(nodes);
}

main().catch((error) => {
  process.stderr.write(`cluster: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
