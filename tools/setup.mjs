#!/usr/bin/env node
/**
 * Sets up everything that a job needs, with one idempotent step per need:
 * `node tools/setup.mjs [build | TIER...]`.
 *
 * Each step says in one line what it does. The output of its commands goes to a log file, whose path is printed
 * when one fails. VIRTKIT_NO_SETUP=1: install nothing outside the repository.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  apiServerPrograms,
  buildKubernetes,
  clusterPrograms,
  kubernetesModule,
  missingGo,
  missingPrograms,
} from "./kubernetes.mjs";
import { needs, startNeeds, tiers, usualTiers } from "./needs.mjs";

/** @typedef {import("./needs.mjs").Need} Need */
/** @typedef {import("./needs.mjs").Tier} Tier */

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Where build results are kept between checkouts. */
export const cacheDir = path.join(
  process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache"),
  "virtkit",
);
/** Only for this process; kept if something failed. */
const logFile = path.join(tmpdir(), `virtkit-setup-${process.pid}.log`);
let keepLog = false;
process.on("exit", () => {
  if (!keepLog) rmSync(logFile, { force: true });
});

/** Ends a command that hangs. */
const maxCommandMinutes = 20;

/** The sbin directories are often missing from the PATH of users other than root. */
const searchPath = [
  ...(process.env["PATH"] ?? "").split(":"),
  "/usr/local/sbin",
  "/usr/sbin",
  "/sbin",
];

/** Sets up what is needed to run the TypeScript: packages and build. */
export async function setUpWorkspace() {
  await installPackages();
  await step("build", () => run("npx", ["tsc", "-b"]));
}

/**
 * Sets up the system for a tier.
 * @param {Tier} tier
 * @returns {Promise<string[]>} why the tier cannot run here, a line each; empty when it can
 */
export async function setUpTier(tier) {
  const reasons = [];
  const needsRoot = tier === "host" || tier === "nodes" || tier === "faults";
  if (needsRoot && process.platform !== "linux") reasons.push(`the ${tier} tier needs Linux`);
  if (needsRoot && process.getuid?.() !== 0) {
    reasons.push(`the ${tier} tier needs root; run: sudo npm run test:${tier}`);
  }
  if (reasons.length > 0) return reasons;
  reasons.push(...(await installSystemPackages(`the ${tier} tier`, needs[tier])));
  if (reasons.length > 0) return reasons;
  if (tier === "cluster") return await provideKubernetes(apiServerPrograms);
  if (tier === "nodes" || tier === "faults") return await provideKubernetes(clusterPrograms);
  return reasons;
}

/**
 * Sets up the system for running a VMI.
 * @returns {Promise<string[]>} why none can run here, a line each; empty when one can
 */
export async function setUpLocalMode() {
  if (process.platform !== "linux") return ["running a VMI needs Linux"];
  if (process.getuid?.() !== 0) return ["running a VMI needs root; run: sudo npm start"];
  return await installSystemPackages("npm start", startNeeds);
}

async function installPackages() {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const stamp = path.join(root, "node_modules/.virtkit-installed");
  const wanted = hashOf(["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests()]);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  await step(`npm packages (${packageManager})`, async () => {
    await run("npx", ["-y", packageManager, "install", "--frozen-lockfile"]);
    writeFileSync(stamp, wanted);
  });
}

/** The package.json of the workspace and of each package in it. */
function manifests() {
  const members = ["packages", "examples"]
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`));
  return ["package.json", ...members.map((member) => `${member}/package.json`)].filter((file) =>
    existsSync(path.join(root, file)),
  );
}

/** @param {string[]} files */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(path.join(root, file)));
  return hash.digest("hex");
}

/**
 * @param {string} who
 * @param {Need[]} wanted
 * @returns {Promise<string[]>} why something that is needed is still missing
 */
async function installSystemPackages(who, wanted) {
  const missing = wanted.filter((need) => !isMet(need));
  if (missing.length === 0) return [];
  const packages = [...new Set(missing.map((need) => need.debian))].sort();
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...packages];
  const byHand = `${who} needs ${packages.join(", ")}; run: sudo ${install.join(" ")}`;
  if (process.env["VIRTKIT_NO_SETUP"]) return [`${byHand} (VIRTKIT_NO_SETUP is set)`];
  if (process.getuid?.() !== 0 || !isMet({ command: "apt-get", debian: "apt" })) return [byHand];
  say(`${who} needs these Debian packages: ${packages.join(", ")}`);
  try {
    await step(`Debian packages for ${who}`, async () => {
      const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
      await run("apt-get", ["update"], { env });
      await run("apt-get", ["-o", "DPkg::Lock::Timeout=300", ...install.slice(1)], { env });
    });
  } catch (error) {
    return [`${byHand} (it failed here: ${messageOf(error)})`];
  }
  return missing
    .filter((need) => !isMet(need))
    .map((need) => `${need.debian} is installed, but ${need.command ?? need.file} is missing`);
}

/** @param {Need} need */
function isMet({ command, file }) {
  if (file) return existsSync(file);
  return command !== undefined && findCommand(command) !== undefined;
}

/** @param {string} name */
function findCommand(name) {
  return searchPath.map((folder) => path.join(folder, name)).find(isExecutable);
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds or builds the programs of Kubernetes, and passes their paths on in the environment.
 * @param {string[]} programs those that are needed
 * @returns {Promise<string[]>} why they are not available
 */
async function provideKubernetes(programs) {
  const module = kubernetesModule(root);
  const { VIRTKIT_KUBERNETES: given, KUBEBUILDER_ASSETS: assets } = process.env;
  if (given && missingPrograms(given, programs).length > 0) {
    const missing = missingPrograms(given, programs).join(", ");
    return [`VIRTKIT_KUBERNETES: ${given} has no ${missing}; unset it to build the programs`];
  }
  const built = path.join(cacheDir, `kubernetes-${module.key}`);
  const candidates = [...(given ? [given] : []), ...(assets ? [assets] : []), built];
  let found = candidates.find((folder) => missingPrograms(folder, programs).length === 0);
  if (!found) {
    const reason = await tryToBuild(module, built);
    if (reason) return [reason];
    found = built;
  }
  if (programs === clusterPrograms) process.env["VIRTKIT_KUBERNETES"] = found;
  process.env["VIRTKIT_KUBE_APISERVER"] = path.join(found, "kube-apiserver");
  process.env["VIRTKIT_KUBECTL"] = path.join(found, "kubectl");
  process.env["VIRTKIT_ETCD"] = path.join(found, "etcd");
  return [];
}

/**
 * @param {import("./kubernetes.mjs").KubernetesModule} module
 * @param {string} output
 * @returns {Promise<string | undefined>} why it could not be built
 */
async function tryToBuild(module, output) {
  const title = `Kubernetes ${module.release}`;
  const otherwise = "or set VIRTKIT_KUBERNETES to a folder that has its programs";
  if (process.env["VIRTKIT_NO_SETUP"])
    return `${title} is missing: unset VIRTKIT_NO_SETUP, ${otherwise}`;
  const lacking = missingGo(module);
  if (lacking) return `${title} is missing, and ${lacking}, ${otherwise}`;
  try {
    await step(`${title}, built once from its Go modules (ten minutes on two idle cores)`, () =>
      buildKubernetes(module, output, (text) => say(`${title}: ${text}`)),
    );
    return undefined;
  } catch (error) {
    return `${title} could not be built (${messageOf(error)}); ${otherwise}`;
  }
}

/**
 * Does something that takes a while, and says so before and after.
 * @param {string} title
 * @param {() => Promise<void>} work
 */
export async function step(title, work) {
  const start = Date.now();
  say(`${title} ...`);
  await work();
  say(`${title}: done (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

/**
 * Runs a command with its output in the log file.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} [options]
 */
async function run(command, args, options = {}) {
  const line = [command, ...args].join(" ");
  const before = existsSync(logFile) ? statSync(logFile).size : 0;
  appendFileSync(logFile, `\n[${new Date().toISOString()}] ${line}\n`);
  const log = openSync(logFile, "a");
  const status = await new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      ...options,
      stdio: ["ignore", log, log],
      timeout: maxCommandMinutes * 60_000,
    });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
  if (status === 0) return;
  keepLog = true;
  const tail = readFileSync(logFile).subarray(before).toString().trimEnd().split("\n").slice(-15);
  process.stderr.write(`${tail.join("\n")}\n`);
  const how =
    status === "SIGTERM" ? `${status}, at the latest after ${maxCommandMinutes} minutes` : status;
  throw new Error(`"${line}" ended with ${how}; the full log is in ${logFile}`);
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} name @returns {name is Tier} */
export function isTier(name) {
  return tiers.includes(/** @type {Tier} */ (name));
}

async function main() {
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => name !== "build" && !isTier(name));
  if (unknown) throw new Error(`"${unknown}" is not a tier; known: build, ${tiers.join(", ")}`);
  await setUpWorkspace();
  for (const tier of wanted.length > 0 ? wanted.filter(isTier) : usualTiers) {
    for (const reason of await setUpTier(tier)) say(reason);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    process.stderr.write(`setup: ${messageOf(error)}\n`);
    process.exitCode = 1;
  });
}
