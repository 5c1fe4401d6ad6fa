import type { KubeClient } from "../client/kube-client.ts";
import type { Leadership } from "./leadership.ts";

/**
 * A client whose writes are refused with `KUBE_LEASE_LOST` unless the lease is held at the moment at which they are
 * sent. A write that is on its way when the process freezes may still land late: what must never be done twice needs
 * a condition of its own, such as a `resourceVersion`, a `test` in a patch, or a UID to delete.
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
