import type { KubeClient } from "../client/kube-client.ts";
import type { Leadership } from "./leadership.ts";

/**
 * A client whose writes fail with `KUBE_LEASE_LOST` unless the lease is held when they are sent. A write that is
 * already on its way when the process freezes may still take effect late. So a write that must not happen twice
 * needs its own condition, such as a `resourceVersion`, a `test` in a patch, or the UID of the object to delete.
 */
export function fencedClient(
  client: KubeClient,
  leadership: Pick<Leadership, "check">,
): KubeClient {
  return {
    get: (...args) => client.get(...args),
    list: (...args) => client.list(...args),
    watch: (...args) => client.watch(...args),
    create: async (...args) => {
      leadership.check();
      return await client.create(...args);
    },
    update: async (...args) => {
      leadership.check();
      return await client.update(...args);
    },
    patch: async (...args) => {
      leadership.check();
      return await client.patch(...args);
    },
    delete: async (...args) => {
      leadership.check();
      await client.delete(...args);
    },
    request: async (request) => {
      if (!["GET", "HEAD"].includes(request.method ?? "GET")) leadership.check();
      return await client.request(request);
    },
  };
}
