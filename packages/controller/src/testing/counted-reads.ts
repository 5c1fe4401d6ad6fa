import type { KubeClient } from "@virtkit/kube";

/**
 * A client that records live reads: `get pods`. Watches and lists of all objects belong to the
 * caches.
 */
export function countedReads(client: KubeClient, reads: string[]): KubeClient {
  return {
    get: (resource, ...rest) => {
      reads.push(`get ${resource.plural}`);
      return client.get(resource, ...rest);
    },
    list: (resource, options) => {
      if (options?.namespace !== undefined) reads.push(`list ${resource.plural}`);
      return client.list(resource, options);
    },
    watch: (...args) => client.watch(...args),
    create: (...args) => client.create(...args),
    update: (...args) => client.update(...args),
    patch: (...args) => client.patch(...args),
    delete: (...args) => client.delete(...args),
    request: (...args) => client.request(...args),
  };
}
