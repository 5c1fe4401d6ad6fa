import { execFile, spawn } from "node:child_process";
import { utimesSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { clusterLeftovers } from "./cluster-leftovers.mjs";
import { root } from "./setup.mjs";

/**
 * What such a cluster has left on this host. If somebody else has started a cluster meanwhile, only what is named after ours
 * counts: a link does not say whose it is.
 * @param {readonly string[]} before
 */
function leftSince(before) {
  const left = clusterLeftovers().filter((each) => !before.includes(each));
  const isShared = left.some((each) => /^directory (?!start-)/.test(each));
  return isShared ? left.filter((each) => each.includes("start-")) : left;
}

test("npm start -- --cluster --once installs the platform in a cluster of its own, boots a VM until it is ready, reaches it, stops it, prints the timeline, and leaves nothing", async () => {
  const before = clusterLeftovers();
  const child = spawn("npm", ["start", "--", "--cluster", "--once"], { cwd: root });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      out += chunk;
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  for (const line of [
    "a Kubernetes with 2 nodes runs",
    "the platform is installed",
    /VM default\/\S+ is ready, at \d+\.\d+\.\d+\.\d+/,
    /the guest answers on port 80: \S+/,
    /VM default\/\S+ has stopped/,
    /^ {2}guest-running +done +\S+Z +launcher$/m,
    /nothing of it is left\n$/,
  ])
    expect(out).toMatch(line);
  expect(code).toBe(0);
  expect(leftSince(before)).toEqual([]);
}, 600_000);

/** `npm start -- ARGS` on a terminal of 160 columns and 60 rows, and the keys of that terminal. @param {string} args */
function onTerminal(args) {
  const line = `stty cols 160 rows 60; exec npm start -- ${args}`;
  const child = spawn("script", ["-qfec", line, "/dev/null"], { cwd: root });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.on("data", (chunk) => {
    shown += chunk;
  });
  return {
    press: (/** @type {string} */ keys) => child.stdin.write(keys),
    shown: () => shown,
    /** What has been shown since the last call. */
    forget: () => {
      shown = "";
    },
    ended: new Promise((resolve) => child.once("close", resolve)),
  };
}

test("npm start -- --cluster --dev shows its VMs until Ctrl-C, opens a console, restarts what is built, and leaves nothing", async () => {
  const before = clusterLeftovers();
  const { press, shown, forget, ended } = onTerminal("--cluster --dev");
  const patience = { timeout: 240_000, interval: 300 };
  const [demo, web] = ["demo", "web"].map(
    (name) => new RegExp(` {2}default/${name} {2}Running {2}node-\\d {2}\\d+\\.\\d+\\.\\d+\\.\\d+`),
  );
  await expect.poll(shown, patience).toMatch(demo ?? "");
  await expect.poll(shown, patience).toMatch(web ?? "");
  await expect.poll(shown, patience).toMatch(/guest-running \d+ s/);
  await expect.poll(shown, patience).toContain("VM: Running");

  // Its VMIs are in the order of their names.
  press("1");
  await expect.poll(shown, patience).toContain("Console of default/demo. Ctrl-] leaves it");
  press("echo seen-$((6*7))\r");
  await expect.poll(shown, patience).toContain("seen-42");
  forget();
  press("\x1d");
  await expect.poll(shown, patience).toContain("The digit or letter before a VMI");

  // The commands that the screen shows.
  const [, KUBECONFIG = ""] = /export KUBECONFIG=([\w./-]+)/.exec(shown()) ?? [];
  const [, kubectl = ""] = /alias kubectl=([\w./-]+)/.exec(shown()) ?? [];
  const logs = ["logs", "-n", "kubevirt", "-l", "kubevirt.io=virt-controller", "--tail=-1"];
  const said = async () => {
    const env = { ...process.env, KUBECONFIG };
    return (await promisify(execFile)(kubectl, logs, { env })).stdout;
  };
  const starts = (await said()).split("the controllers start").length;
  const now = new Date();
  utimesSync(path.join(root, "packages/controller/dist/service/index.js"), now, now);
  const startsNow = async () => (await said()).split("the controllers start").length;
  await expect.poll(startsNow, patience).toBeGreaterThan(starts);

  press("\x03");
  expect(await ended).toBe(0);
  expect(shown()).toMatch(/Stopping the cluster \.\.\.[\s\S]*nothing of it is left/);
  expect(leftSince(before)).toEqual([]);
}, 600_000);

test("Ctrl-C while the platform is installed ends the cluster, and leaves nothing", async () => {
  const before = clusterLeftovers();
  const { press, shown, ended } = onTerminal("--cluster --once");
  const patience = { timeout: 240_000, interval: 100 };
  await expect.poll(shown, patience).toMatch(/applied \d+ objects/);
  press("\x03");
  // A shell that npm starts may report the signal in place of the exit code.
  expect([1, 130]).toContain(await ended);
  expect(shown()).toMatch(/nothing of it is left\r?\n[\s\S]*start: interrupted/);
  expect(shown()).not.toContain("the platform is installed");
  expect(leftSince(before)).toEqual([]);
}, 600_000);
