// A node agent in its own process, which is killed with SIGKILL at a moment that its parent names. Real launchers are found by
// their cgroups, simulated ones by their sockets; its parent runs the API server.
import { appendFileSync, existsSync } from "node:fs";
import { clusterConfig } from "@virtkit/api/config";
import { connectLauncher } from "@virtkit/launcher/client";
import { createNodeAgent, procNodeHost } from "@virtkit/node-agent/service";
import { remoteClient } from "./remote-client.mjs";

/** @typedef {import("./killed-agent.ts").AgentOrders} AgentOrders */
/** @typedef {import("@virtkit/node-agent/service").NodeHost} NodeHost */
/** @typedef {import("@virtkit/node-agent/service").ContainerName} ContainerName */

process.on("disconnect", () => process.exit(0));
// Everything is loaded: from here on it takes no longer than an agent on a fast node.
const orders = await new Promise((/** @type {(orders: AgentOrders) => void} */ resolve) => {
  process.on("message", (/** @type {{ orders?: AgentOrders }} */ told) => {
    if (told.orders) resolve(told.orders);
  });
});
const { nodeName, stateDirectory, momentFile, socketDirectory, identity, survive } = orders;
let { dieAt } = orders;
process.on("message", (/** @type {{ dieAt?: string }} */ told) => {
  if (told.dieAt !== undefined) dieAt = told.dieAt;
});

const config = clusterConfig({ developerConfiguration: { useEmulation: true } });
const environment = () => ({ config, allowEmulation: true });
const real = procNodeHost({ stateDirectory, environment });

/** The number that a simulated launcher's container has for a name. @param {ContainerName} container */
const pidOf = ({ containerID }) => Number.parseInt(containerID.replace(/^.*\/0*/, ""), 16);
/** @param {number} pid */
const socketOf = (pid) => `${socketDirectory}/${pid}`;
/** Beyond the pids of a kernel. @param {number} pid */
const isSimulated = (pid) => pid > 10_000_000 && pid < 2 ** 32;

/** @param {number} pid */
function simulated(pid) {
  const nothing = async () => {};
  return {
    process: { pid, startTime: String(pid), bootId: identity.bootID },
    hasEnded: () => !existsSync(socketOf(pid)),
    connect: async () => await connectLauncher({ path: socketOf(pid) }),
    prepare: async (/** @type {unknown} */ vmi) => /** @type {any} */ ({ vmi, context: {} }),
    fileSizes: () => ({}),
    selinuxContext: "none",
    pluggedVolumes: () => [],
    interruptedVolumes: () => [],
    plugVolume: nothing,
    unplugVolume: nothing,
    [Symbol.dispose]() {},
  };
}

/** @type {NodeHost} */
const host = {
  find(container) {
    const pid = pidOf(container);
    if (!isSimulated(pid)) return real.find(container);
    return existsSync(socketOf(pid)) ? simulated(pid) : undefined;
  },
  hasEnded: (each) =>
    isSimulated(each.pid) ? !existsSync(socketOf(each.pid)) : real.hasEnded(each),
  cleanUp: async (podUid, launcher, options) => {
    if (!launcher || launcher.sandbox) await real.cleanUp(podUid, launcher, options);
  },
};

/** The planted fault: this agent treats guests without a record as leftovers, and ends them. */
async function endTheUnknown() {
  const pods = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
  const { items } = await remoteClient.list(/** @type {any} */ (pods));
  for (const pod of /** @type {any[]} */ (items)) {
    const { uid, ownerReferences } = pod.metadata;
    // A Pod of volumes is not a launcher.
    if (ownerReferences[0].kind === "Pod") continue;
    if (existsSync(`${stateDirectory}/guests/${uid}.json`)) continue;
    const { containerID } = pod.status.containerStatuses[0];
    const launcher = host.find({ podUid: uid, containerID });
    const vmi = /** @type {any} */ ({ metadata: { uid: ownerReferences[0].uid } });
    const client = await launcher?.connect(vmi, { signal: AbortSignal.timeout(10_000) });
    await client?.kill();
  }
}

/** Milliseconds in which a call has left this process, and is not answered yet if it does anything. */
const onTheWay = 5;
let isDying = false;
const die = () => process.kill(process.pid, "SIGKILL");

/** @param {string} moment */
function isLast(moment) {
  if (survive && moment.startsWith("during") && !survive.includes(moment)) return true;
  return moment === dieAt;
}

if (orders.endsTheUnknown) await endTheUnknown();
const agent = createNodeAgent({
  ...{ client: remoteClient, nodeName, stateDirectory, host, identity, config: () => config },
  runDirectory: socketDirectory,
  seam: (seam, when) => {
    if (isDying && when === "after") die();
    // Nothing else begins: it would be interrupted as well.
    if (isDying) return new Promise(() => {});
    const moment = `${when === "before" ? "during" : "after"} "${seam}"`;
    appendFileSync(momentFile, `${moment}\n`);
    if (!isLast(moment)) return undefined;
    if (when === "after") die();
    isDying = true;
    setTimeout(die, onTheWay);
    return undefined;
  },
});
await agent.run({ signal: new AbortController().signal });
