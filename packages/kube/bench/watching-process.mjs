/**
 * Watches a resource in a process of its own, by our reflector and cache, by a controller of ours or by client-node's informer, and says
 * what it has seen and what that cost.
 */
import { readFileSync } from "node:fs";
import { path } from "./vmi-like.mjs";

const [kind, server = ""] = process.argv.slice(2);

/** @typedef {{ size: () => number, stop: () => Promise<void> }} Watching */

let changes = 0;
let awaited = Number.POSITIVE_INFINITY;
/** @type {() => void} */
let reached = () => {};
const changed = () => {
  if (++changes >= awaited) reached();
};

/** @returns {Promise<Watching>} once everything is known */
async function ours() {
  const { HttpClient, defineResource } = await import("@virtkit/kube");
  const { Reflector } = await import("@virtkit/kube/reflector");
  const { Cache } = await import("@virtkit/kube/cache");
  const resource = defineResource(path);
  const client = new HttpClient({ server, credentials: async () => ({}) });
  const stop = new AbortController();
  const cache = new Cache(resource);
  const following = cache.follow(new Reflector(client, resource, { signal: stop.signal }));
  await cache.synced();
  const end = cache.subscribe(({ type }) => type === "updated" && changed());
  return {
    size: () => cache.size,
    stop: async () => {
      end();
      stop.abort();
      await following;
      client.close();
    },
  };
}

/** @returns {Promise<Watching>} once everything has been reconciled */
async function controlled() {
  const { HttpClient, defineResource } = await import("@virtkit/kube");
  const { Cache } = await import("@virtkit/kube/cache");
  const { createController, watch } = await import("@virtkit/kube/controller");
  const client = new HttpClient({ server, credentials: async () => ({}) });
  const cache = new Cache(defineResource(path));
  let reconciled = 0;
  let listed = Number.POSITIVE_INFINITY;
  let all = () => {};
  const controller = createController({
    name: "bench",
    client,
    watches: [watch(cache)],
    reconcile: async () => {
      if (++reconciled > listed) changed();
      else if (reconciled === listed) all();
    },
  });
  const running = controller.run();
  await cache.synced();
  listed = cache.size;
  await new Promise((resolve) => {
    all = () => resolve(undefined);
    if (reconciled >= listed) all();
  });
  return {
    size: () => cache.size,
    stop: async () => {
      await controller.stop();
      await running;
      client.close();
    },
  };
}

/** @returns {Promise<Watching>} */
async function clientNode() {
  const { CustomObjectsApi, KubeConfig, makeInformer } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  // It refuses to speak to a server without TLS in any other way.
  config.loadFromClusterAndUser({ name: "c", server, skipTLSVerify: true }, { name: "u" });
  const api = config.makeApiClient(CustomObjectsApi);
  const { group, version, plural } = path;
  const informer = makeInformer(config, `/apis/${group}/${version}/${plural}`, () =>
    api.listClusterCustomObject({ group, version, plural }),
  );
  informer.on("update", changed);
  await informer.start();
  return { size: () => informer.list().length, stop: () => informer.stop() };
}

const start = kind === "client-node" ? clientNode : kind === "controlled" ? controlled : ours;
/** @type {Watching | undefined} */
let watching;

/** Kilobytes of this process, once what is garbage has been collected. */
async function memory() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}

process.on(
  "message",
  async (/** @type {{ do: "sync" | "stop" | "await" | "memory", changes?: number }} */ asked) => {
    switch (asked.do) {
      case "sync":
        await watching?.stop();
        watching = await start();
        break;
      case "stop":
        await watching?.stop();
        watching = undefined;
        break;
      case "await":
        await new Promise((resolve) => {
          reached = () => resolve(undefined);
          awaited = asked.changes ?? 0;
          if (changes >= awaited) reached();
        });
        awaited = Number.POSITIVE_INFINITY;
        changes -= asked.changes ?? 0;
        break;
      case "memory":
        process.send?.({ kilobytes: await memory(), size: watching?.size() });
        return;
    }
    process.send?.({ size: watching?.size() });
  },
);
process.send?.({});
