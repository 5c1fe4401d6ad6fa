import { names } from "@virtkit/api/names";
import { runScriptedKubelets } from "../dist/service/testing/scripted-kubelets.js";
import { runScriptedNodeAgents } from "../dist/service/testing/scripted-node-agents.js";
import { startServer } from "./api-servers.mjs";
import { startControllers } from "./measured-process.mjs";
import {
  clientOf,
  installPlatform,
  namespace,
  nodes,
  pods,
  revisions,
  soon,
  vmis,
} from "./platform.mjs";

/** @typedef {import("@virtkit/kube").KubeObject} KubeObject */
/** @typedef {import("@virtkit/kube").Resource} Resource */

const warmUp = 30;
const { heartbeat } = names().annotations;

/**
 * Creates objects and deletes them again, on a real API server with nodes that do what they are
 * told. Returns what the controllers' process needed for each, and one settled object of each kind.
 * @param {{ resource: Resource, make: (name: string) => KubeObject, count: number, perSecond: number }} options
 */
export async function measureLife({ resource, make, count, perSecond }) {
  const server = await startServer();
  const client = clientOf(server.kubeconfig);
  const stop = new AbortController();
  const { signal } = stop;
  await installPlatform(client);
  const nodeNames = Array.from({ length: 20 }, (_, n) => `node-${n}`);
  const labels = { "kubernetes.io/arch": "amd64" };
  const kubelets = runScriptedKubelets({ client, nodes: nodeNames, labels, signal });
  const isEach = async (/** @type {(node: KubeObject) => boolean} */ isSo) => {
    const { items } = await client.list(nodes);
    return items.length === nodeNames.length && items.every(isSo);
  };
  // A node without a heartbeat would be checked again and again, which is not part of what a VM costs.
  await soon(() => isEach(() => true));
  const agents = runScriptedNodeAgents({ client, signal, heartbeat: 60_000 });
  const playing = Promise.all([kubelets, agents]);
  await soon(() => isEach(({ metadata }) => Boolean(metadata.annotations?.[heartbeat])));
  const process = startControllers(server.kubeconfig);
  const isReady = (/** @type {KubeObject} */ vmi) =>
    Object(Object(vmi).status).conditions?.some(
      (/** @type {{ type: string, status: string }} */ { type, status }) =>
        type === "Ready" && status === "True",
    );
  const readyCount = async () =>
    (await client.list(vmis, { namespace })).items.filter(isReady).length;
  const create = async (/** @type {string} */ name) => {
    await client.create(resource, make(name));
    await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond));
  };
  try {
    // The first object warms up the process and shows what settled objects look like.
    await create("m-0");
    await soon(async () => (await readyCount()) === 1);
    const settled = {
      vmi: (await client.list(vmis, { namespace })).items[0],
      pod: (await client.list(pods, { namespace })).items[0],
      revision: (await client.list(revisions, { namespace })).items[0],
      vm: resource === vmis ? undefined : await client.get(resource, { namespace, name: "m-0" }),
    };
    const live = async (/** @type {string} */ prefix, /** @type {number} */ many) => {
      for (let n = 1; n <= many; n++) await create(`${prefix}-${n}`);
      await soon(async () => (await readyCount()) === many + 1);
      const rss = process.rss();
      for (let n = 1; n <= many; n++) {
        await client.delete(resource, { namespace, name: `${prefix}-${n}` });
      }
      await soon(async () => (await client.list(vmis, { namespace })).items.length === 1);
      return rss;
    };
    // Code that runs for months has been compiled by the JIT.
    await live("w", warmUp);
    const [cpu, rss] = [process.cpu(), process.rss()];
    const grown = (await live("m", count)) - rss;
    return { settled, cpuSeconds: (process.cpu() - cpu) / count, rssKB: grown / count };
  } finally {
    await process.end();
    stop.abort();
    await playing;
    client.close();
    await server.stop();
  }
}
