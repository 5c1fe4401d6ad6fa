// The node agent in its own process, with launchers that report nothing new. Prints its memory and CPU on request.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { crds } from "@virtkit/api/crd";
import { encodeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { createNodeAgent } from "@virtkit/node-agent/service";
import { InProcessApiServer } from "@virtkit/testing/api-server";

const names = namesOf();
const identity = { machineID: "m", bootID: "b" };
const nodeName = "node";
const stateDirectory = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
process.on("exit", () => rmSync(stateDirectory, { recursive: true, force: true }));

const server = new InProcessApiServer();
for (const crd of crds().filter(({ spec }) => spec.names.kind === "VirtualMachineInstance")) {
  server.seedByKind(/** @type {never} */ (crd));
}
server.seedByKind(
  /** @type {never} */ ({
    ...{ apiVersion: "v1", kind: "Node", metadata: { name: nodeName } },
    status: { nodeInfo: identity },
  }),
);

const status = {
  ...{ name: "x", reason: "Unknown", agent: "connected", disks: [], agentCommands: ["guest-ping"] },
  interfaces: [{ name: "default", mac: "02:00:00:00:00:01", ips: ["10.0.2.2"], queueCount: 1 }],
};

/** Launchers whose guests run: they outlive an agent. @type {Set<string>} */
const running = new Set();

/** @param {string} id */
function found(id) {
  let state = running.has(id) ? "Running" : "Absent";
  return {
    process: { pid: Number(id), startTime: id, bootId: "b" },
    hasEnded: () => false,
    fileSizes: () => ({}),
    pluggedVolumes: () => [],
    interruptedVolumes: () => [],
    selinuxContext: "none",
    prepare: async (/** @type {unknown} */ vmi) => ({ vmi, context: {} }),
    connect: async () => ({
      syncVmi: async () => {
        state = "Running";
        running.add(id);
        return { ...status, state };
      },
      status: async () => ({ ...status, state }),
      async *events(/** @type {{ signal?: AbortSignal }} */ { signal } = {}) {
        yield { at: "", kind: "status", status: { ...status, state } };
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      },
      close: async () => {},
    }),
    [Symbol.dispose]() {},
  };
}

let ending = new AbortController();
let ended = Promise.resolve();

function start() {
  const started = createNodeAgent({
    ...{ client: server.client("agent"), nodeName, stateDirectory, identity },
    runDirectory: stateDirectory,
    host: /** @type {never} */ ({
      find: (/** @type {{ containerID: string }} */ { containerID }) =>
        found(containerID.slice("containerd://".length)),
      hasEnded: () => false,
      cleanUp: async () => {},
    }),
  });
  ending = new AbortController();
  ended = started.run({ signal: ending.signal }).catch(() => undefined);
  return started;
}
let agent = start();

const client = server.client("user");
const vmis = /** @type {never} */ ({
  ...{ group: "kubevirt.io", version: "v1", plural: "virtualmachineinstances" },
  ...{ kind: "VirtualMachineInstance", namespaced: true },
});
const pods = /** @type {never} */ ({
  ...{ group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true },
});
let made = 0;

async function schedule() {
  const name = `vm-${++made}`;
  const metadata = { name, namespace: "default", labels: { [names.labels.nodeName]: nodeName } };
  const vmi = await client.create(
    vmis,
    /** @type {never} */ ({
      ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", metadata },
      spec: { domain: { memory: { guest: "64Mi" }, devices: {} } },
      status: { phase: "Scheduled", nodeName },
    }),
  );
  const uid = vmi.metadata.uid ?? "";
  const owner = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name, uid };
  const pod = await client.create(
    pods,
    /** @type {never} */ ({
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: {
        ...{ name, namespace: "default", labels: { [names.labels.app]: "virt-launcher" } },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: { nodeName, containers: [{ name: "compute", image: "x" }] },
    }),
  );
  const compute = {
    ...{ name: "compute", image: "x", imageID: "", ready: true, restartCount: 0 },
    ...{ containerID: `containerd://${1_000 + made}`, state: { running: {} } },
  };
  const place = { namespace: "default", name };
  const body = { status: { containerStatuses: [compute] } };
  await client.patch(pods, place, { type: "merge", body }, { subresource: "status" });
  const podUID = pod.metadata.uid ?? "";
  const grant = encodeGrant({ state: "Granted", vmiUID: uid, epoch: 1, seq: 1, podUID });
  const annotations = { [names.own(grantAnnotation)]: grant };
  await client.patch(vmis, place, { type: "merge", body: { metadata: { annotations } } });
}

/** Milliseconds from the start of another agent until all statuses are right that were spoilt before. */
async function restart() {
  ending.abort();
  await ended;
  const spoilt = { type: "merge", body: { status: { interfaces: null } } };
  for (let at = 1; at <= made; at++) {
    const place = { namespace: "default", name: `vm-${at}` };
    await client.patch(vmis, place, /** @type {never} */ (spoilt));
  }
  const begun = performance.now();
  agent = start();
  for (;;) {
    const { items } = await client.list(vmis);
    const right = items.filter((vmi) => Reflect.get(vmi, "status")?.interfaces?.length === 1);
    if (right.length === made) return performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

process.on("message", async (/** @type {{ guests: number, restarts?: number }} */ told) => {
  const { guests, restarts } = told;
  if (restarts !== undefined) {
    const times = [];
    for (let at = 0; at < restarts; at++) times.push(await restart());
    process.send?.({ median: times.toSorted((a, b) => a - b)[restarts >> 1] });
    return;
  }
  while (made < guests) await schedule();
  while (agent.guests().filter(({ domain }) => domain?.state === "Running").length < guests) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  globalThis.gc?.();
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const { user, system } = process.cpuUsage(before);
  process.send?.({ rss: process.memoryUsage.rss(), cpu: (user + system) / 2e6 });
});
process.send?.({});
