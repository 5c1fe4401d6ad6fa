import { runScriptedKubelets } from "../dist/service/testing/scripted-kubelets.js";
import { runScriptedNodeAgents } from "../dist/service/testing/scripted-node-agents.js";
import { startServer } from "./api-servers.mjs";
import { startControllers } from "./measured-process.mjs";
import { clientOf, installPlatform, namespace, pods, revisions, soon, vmis } from "./platform.mjs";

/** @typedef {import("@virtkit/kube").KubeObject} KubeObject */
/** @typedef {import("@virtkit/kube").Resource} Resource */

const warmUp = 30;

/**
 * Brings objects up and takes them away again, against a real API server with nodes that do as they are told. Answers
 * with what the controllers' process needed for each, and with one settled object of each kind.
 * @param {{ resource: Resource, make: (name: string) => KubeObject, count: number, perSecond: number }} options
 */
export async function measureLife({ resource, make, count, perSecond }) {
  const server = await startServer();
  const client = clientOf(server.kubeconfig);
  const stop = new AbortController();
  const { signal } = stop;
  await installPlatform(client);
  const nodes = Array.from({ length: 20 }, (_, n) => `node-${n}`);
  const labels = { "kubernetes.io/arch": "amd64" };
  const playing = Promise.all([
    runScriptedKubelets({ client, nodes, labels, signal }),
    runScriptedNodeAgents({ client, signal, heartbeat: 60_000 }),
  ]);
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
    // The first one warms the process up, and shows what settled objects are like.
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
    // Code that runs for months is compiled.
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
