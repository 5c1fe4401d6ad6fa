import { path } from "./vmi-like.mjs";

/**
 * Something that has seen all objects, and is notified of each change.
 * @typedef {{ size: () => number, stop: () => Promise<void> }} Watcher
 */

/**
 * Our reflector and cache.
 * @param {string} server
 * @param {() => void} changed
 * @returns {Promise<Watcher>}
 */
async function ours(server, changed) {
  const { HttpClient, defineResource } = await import("@virtkit/kube");
  const { Reflector } = await import("@virtkit/kube/reflector");
  const { Cache } = await import("@virtkit/kube/cache");
  const resource = defineResource(path);
  const client = new HttpClient({ server, credentials: async () => ({}) });
  const stop = new AbortController();
  const cache = new Cache(resource);
  const following = cache.follow(new Reflector(client, resource, { signal: stop.signal }));
  await cache.synced();
  const end = cache.subscribe(({ type }) => {
    if (type === "updated") changed();
  });
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

/**
 * A controller of ours that does nothing.
 * @param {string} server
 * @param {() => void} changed
 * @returns {Promise<Watcher>} once everything has been reconciled
 */
async function controlled(server, changed) {
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

/**
 * The informer of client-node.
 * @param {string} server
 * @param {() => void} changed
 * @returns {Promise<Watcher>}
 */
async function clientNode(server, changed) {
  const { CustomObjectsApi, KubeConfig, makeInformer } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  // Without this it refuses to talk to a server without TLS.
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

export const watchers = { ours, controlled, "client-node": clientNode };
