import type { KubeObject } from "@virtkit/kube";
import type { Cache } from "@virtkit/kube/cache";
import { type Watch, type WatchSpec, watch } from "@virtkit/kube/controller";

/** A watch of a cache that the service feeds. */
export function sharedWatch<T extends KubeObject>(
  cache: Cache<T, string>,
  spec: Omit<WatchSpec<T>, "follow"> = {},
): Watch {
  return watch(cache, { ...spec, follow: false });
}

/** Makes a controller wait until these caches have synced; changes in them trigger nothing. */
export function syncedFirst(caches: readonly (Cache<never, string> | undefined)[]): Watch[] {
  return caches
    .filter((cache) => cache !== undefined)
    .map((cache) =>
      sharedWatch(cache as unknown as Cache<KubeObject, string>, { predicate: () => false }),
    );
}
