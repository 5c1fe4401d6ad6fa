import { spawn } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "./setup.mjs";

/** @typedef {import("../packages/lab/src/cluster/cluster.ts").Cluster} Cluster */
/** @typedef {Record<string, any>} KubeObject */

const virtkit = path.join(root, "packages/cli/bin/virtkit.js");

/**
 * @typedef {object} BootOptions
 * @property {string} manifest a VirtualMachine that runs without being started, with a port of its first interface
 * @property {string} [namespace] where it is created. Default: the manifest's
 * @property {(line: string) => void} told is called with each thing that has happened
 * @property {AbortSignal} [signal]
 * @property {number} [patience] milliseconds that each step may take. Default 2 minutes
 * @property {typeof tellTimeline | undefined} [timeline] returns the timeline of a VM's start
 */

/**
 * Boots one VM in a cluster in which the platform is installed: waits until it is ready, reaches its first port, stops it, and
 * deletes it.
 * @param {Pick<Cluster, "kubeconfig" | "kubectl" | "request">} cluster
 * @param {BootOptions} options
 * @returns {Promise<string>} the timeline of its start; rejects with the reason if any of this does not succeed
 */
export async function bootOnce(cluster, options) {
  const { manifest, told, timeline = tellTimeline } = options;
  const place = options.namespace ? ["-n", options.namespace] : [];
  const applied = await cluster.kubectl(["apply", ...place, "-o", "json", "-f", "-"], {
    input: manifest,
  });
  /** @type {KubeObject} */
  const { kind, metadata, spec } = JSON.parse(applied);
  if (kind !== "VirtualMachine")
    throw new Error(`the manifest has a ${kind}; use a VirtualMachine`);
  const { name, namespace } = metadata;
  const which = `${namespace}/${name}`;
  const port = spec.template.spec.domain.devices.interfaces[0].ports[0].port;
  const look = () => lookAt(cluster, namespace, name);

  const { vmi } = await until(`VM ${which} is not ready`, options, async () => {
    const seen = await look();
    const isReady = seen.vm?.["status"]?.printableStatus === "Running" && hasReady(seen.vmi);
    return { answer: isReady && addressOf(seen.vmi) ? seen : undefined, last: describe(seen) };
  });
  const address = addressOf(vmi);
  told(`VM ${which} is ready, at ${address}`);
  const said = await until(`the guest of VM ${which} does not answer`, options, () =>
    reach(`http://${address}:${port}/`),
  );
  told(`the guest answers on port ${port}: ${said}`);
  // The timeline is that of the VMI, which is gone once the VM has stopped.
  const list = await timeline(cluster.kubeconfig, { namespace, name });

  const verb = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachines/${name}/stop`;
  const { status, body } = await cluster.request(verb, { method: "PUT", body: {} });
  if (status !== 202) {
    throw new Error(`VM ${which} could not be stopped: ${status} ${JSON.stringify(body)}`);
  }
  await until(`VM ${which} has not stopped`, options, async () => {
    const seen = await look();
    const hasStopped = seen.vm?.["status"]?.printableStatus === "Stopped" && !seen.vmi;
    return { answer: hasStopped || undefined, last: describe(seen) };
  });
  told(`VM ${which} has stopped`);
  const { patience = 120_000 } = options;
  const ending = ["delete", "vm", name, "-n", namespace, `--timeout=${patience / 1000}s`];
  await cluster.kubectl(ending, { timeout: patience + 10_000 });
  return list;
}

/**
 * A VM and its VMI, as far as they exist.
 * @param {Pick<Cluster, "kubectl">} cluster
 * @param {string} namespace
 * @param {string} name
 * @returns {Promise<{ vm: KubeObject | undefined, vmi: KubeObject | undefined }>}
 */
async function lookAt(cluster, namespace, name) {
  const get = ["get", `vm/${name}`, `vmi/${name}`, "-n", namespace, "--ignore-not-found"];
  const text = await cluster.kubectl([...get, "-o", "json"]);
  /** @type {KubeObject} */
  const found = text.trim() ? JSON.parse(text) : {};
  /** @type {KubeObject[]} */
  const all = found["items"] ?? [found];
  const ofKind = (/** @type {string} */ kind) => all.find((each) => each["kind"] === kind);
  return { vm: ofKind("VirtualMachine"), vmi: ofKind("VirtualMachineInstance") };
}

/** @param {KubeObject | undefined} object */
function hasReady(object) {
  return conditionsOf(object).some(({ type, status }) => type === "Ready" && status === "True");
}

/** @param {KubeObject | undefined} object @returns {KubeObject[]} */
function conditionsOf(object) {
  return object?.["status"]?.conditions ?? [];
}

/** @param {KubeObject | undefined} vmi @returns {string | undefined} */
function addressOf(vmi) {
  return vmi?.["status"]?.interfaces?.[0]?.ipAddress;
}

/** What a VM's state is, and what its conditions complain about. @param {Awaited<ReturnType<typeof lookAt>>} seen */
function describe({ vm, vmi }) {
  const complaints = [...conditionsOf(vm), ...conditionsOf(vmi)].flatMap(
    ({ type, status, reason, message }) =>
      message && (status !== "True" || type === "Failure")
        ? [`${type}=${status} (${reason}: ${message})`]
        : [],
  );
  const states = [
    `the VM says ${vm?.["status"]?.printableStatus ?? "nothing yet"}`,
    vmi ? `the VMI says ${vmi["status"]?.phase ?? "nothing yet"}` : "there is no VMI",
  ];
  return [...states, ...new Set(complaints)].join("; ");
}

/**
 * @template T
 * @typedef {{ answer: T | undefined, last: string }} Asked an answer, or what was found instead
 */

/**
 * Asks until there is an answer.
 * @template T
 * @param {string} what the complaint if there is none in time
 * @param {Pick<BootOptions, "signal" | "patience">} options
 * @param {() => Promise<Asked<T>>} ask
 * @returns {Promise<T>}
 */
async function until(what, { signal, patience = 120_000 }, ask) {
  const end = Date.now() + patience;
  for (;;) {
    signal?.throwIfAborted();
    const { answer, last } = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`${what} after ${patience / 1000} s: ${last}`);
    await sleep(250);
  }
}

/** @param {string} url @returns {Promise<Asked<string>>} */
async function reach(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return { answer: (await response.text()).trim(), last: "" };
  } catch (error) {
    // The guest is still booting: its network is up before its server.
    const { message, cause } = /** @type {Error} */ (error);
    return { answer: undefined, last: `${url}: ${message} ${cause ?? ""}`.trim() };
  }
}

/**
 * What `virtkit why` says of a VM: when each handoff happened.
 * @param {string} kubeconfig
 * @param {{ namespace: string, name: string }} vm
 * @returns {Promise<string>}
 */
async function tellTimeline(kubeconfig, { namespace, name }) {
  const args = ["why", name, "-n", namespace, "--kubeconfig", kubeconfig];
  const child = spawn(process.execPath, [virtkit, ...args], { timeout: 60_000 });
  let [out, complaint] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    complaint += chunk;
  });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return out.trimEnd();
  throw new Error(`virtkit ${args.join(" ")} exited with ${code}: ${(complaint || out).trim()}`);
}
