import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";

/** The programs that are single files with these names. */
const linked = [
  ...["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"],
  ...["kubectl", "etcd", "containerd", "ctr"],
];

/** All programs of a cluster. */
export const clusterPrograms = [...linked, "containerd-shim-runc-v2", "pause"];

/** The programs of an API server without nodes. */
export const apiServerPrograms = ["kube-apiserver", "kubectl", "etcd"];

/** Parts of containerd that need C libraries, or that no test uses. */
const tags = "no_btrfs,no_devmapper,no_zfs,no_tracing";

/** How often to report the progress of a build. */
const progressSeconds = 15;

/** @type {NodeJS.Signals[]} */
const signals = ["SIGINT", "SIGTERM"];

/** A build that takes longer hangs. At a load of 60, one took 35 minutes. */
const maxMinutes = 60;

/**
 * @typedef {object} KubernetesModule
 * @property {string} folder
 * @property {string} release of Kubernetes
 * @property {string} go the oldest release of Go that builds it
 * @property {string} key changes with everything that the programs are built from
 */

/** @param {string} root @returns {KubernetesModule} */
export function kubernetesModule(root) {
  const folder = path.join(root, "tools/kubernetes");
  const goMod = readFileSync(path.join(folder, "go.mod"), "utf8");
  const release = /k8s\.io\/kubernetes v(\S+)/.exec(goMod)?.[1] ?? "unknown";
  const go = /^go (\S+)$/m.exec(goMod)?.[1] ?? "0";
  const hash = createHash("sha256");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const file of files.filter((name) => /(\.go|go\.mod|go\.sum)$/.test(name))) {
    hash.update(file).update(readFileSync(path.join(folder, file)));
  }
  return { folder, release, go, key: `${release}-${hash.digest("hex").slice(0, 8)}` };
}

/** The programs that are missing in a folder. @param {string} folder @param {string[]} names */
export function missingPrograms(folder, names) {
  return names.filter((name) => {
    try {
      accessSync(path.join(folder, name), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

/** Why Go cannot build it here; undefined if it can. @param {KubernetesModule} module */
export function missingGo({ folder, go }) {
  const { stdout } = spawnSync("go", ["version"], { cwd: folder, encoding: "utf8" });
  if (/go version/.test(stdout ?? "")) return undefined;
  return `Go is missing: install Go ${go} or newer`;
}

/**
 * Builds all programs of a cluster from their Go modules. What was compiled stays in Go's own cache, so that an
 * interrupted build continues; the folder exists only once it is complete.
 * @param {KubernetesModule} module
 * @param {string} output
 * @param {(text: string) => void} say receives the progress
 */
export async function buildKubernetes(module, output, say) {
  const work = `${output}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  const interrupt = new AbortController();
  /** @param {NodeJS.Signals} signal */
  const onSignal = (signal) => interrupt.abort(signal);
  for (const signal of signals) process.once(signal, onSignal);
  try {
    const version = "k8s.io/component-base/version";
    const stamps = {
      gitVersion: `v${module.release}`,
      gitMajor: "1",
      gitMinor: module.release.split(".")[1],
    };
    const stamped = Object.entries(stamps).map(([key, value]) => `-X ${version}.${key}=${value}`);
    const shim = "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2";
    const parts = [
      { output: path.join(work, "kubernetes"), flags: stamped, packages: ["."] },
      // The trailing slash makes Go name each program after its package.
      { output: `${work}/`, flags: [], packages: [shim, "./pause"] },
    ];
    for (const { output: to, flags, packages } of parts) {
      const ldflags = ["-s", "-w", ...flags].join(" ");
      const args = ["-ldflags", ldflags, "-o", to, ...packages];
      await goBuild(module, args, packages, { say, signal: interrupt.signal });
    }
    for (const name of linked) symlinkSync("kubernetes", path.join(work, name));
    if (!existsSync(output)) renameSync(work, output);
  } finally {
    rmSync(work, { recursive: true, force: true });
    for (const signal of signals) process.off(signal, onSignal);
    // The signal was held back until nothing incomplete is left.
    if (interrupt.signal.aborted) process.kill(process.pid, interrupt.signal.reason);
  }
}

/**
 * @param {KubernetesModule} module
 * @param {string[]} args
 * @param {string[]} packages
 * @param {{ say: (text: string) => void, signal: AbortSignal }} options
 */
async function goBuild(module, args, packages, { say, signal }) {
  const env = { ...process.env, CGO_ENABLED: "0" };
  const options = ["-trimpath", "-tags", tags];
  const { total, stale } = packagesToBuild(module, [...options, "-deps", ...packages], env);
  // Go prints their names as it compiles them.
  const child = spawn("go", ["build", "-v", ...options, ...args], {
    cwd: module.folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: maxMinutes * 60_000,
    signal,
  });
  let compiled = 0;
  /** @type {string[]} */
  const last = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (/^[\w.~/-]+$/.test(line)) compiled++;
    last.push(line);
    if (last.length > 15) last.shift();
  });
  const progress = () => say(`${total - stale + Math.min(compiled, stale)} of ${total} packages`);
  const timer = setInterval(progress, progressSeconds * 1000);
  try {
    const status = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve(code ?? signal));
    });
    if (status !== 0) throw new Error(`go build ended with ${status}:\n${last.join("\n")}`);
  } finally {
    clearInterval(timer);
  }
}

/**
 * How many packages there are, and how many of them Go's cache does not have.
 * @param {KubernetesModule} module
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
function packagesToBuild(module, args, env) {
  const list = spawnSync("go", ["list", "-f", "{{.ImportPath}} {{.StaleReason}}", ...args], {
    cwd: module.folder,
    env,
    encoding: "utf8",
    // It downloads the modules first.
    timeout: maxMinutes * 60_000,
    maxBuffer: 64 << 20,
  });
  if (list.status !== 0) throw new Error(`go list failed: ${list.stderr?.trim()}`);
  const lines = list.stdout.trimEnd().split("\n");
  const stale = lines.filter((line) => / .*(mismatch|stale|newer)/.test(line)).length;
  return { total: lines.length, stale };
}
