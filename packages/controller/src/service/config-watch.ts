import { isDeepStrictEqual } from "node:util";
import { type Clock, sleep } from "@virtkit/api/clock";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import type { Cache, CacheChange } from "@virtkit/kube/cache";
import type { Watch, WatchRun } from "@virtkit/kube/controller";
import type { SharedCaches } from "./shared-caches.ts";
import { sharedWatch } from "./shared-watch.ts";

/** Which objects depend on which parts of the configuration. */
export interface ConfigWatchSpec {
  /** The parts of the KubeVirt object that plans read; undefined if the object does not exist. */
  reads(kubevirt: KubeObject | undefined): unknown;
  /** The objects to look at again. */
  keys(): readonly ObjectName[];
}

/**
 * In milliseconds. The caller of `createControllers` follows the configuration through a watch of its own, which may be
 * behind this one.
 */
const patience = 5_000;

/**
 * Looks at objects again when the configuration that their plans read changes. Objects that have changed themselves come
 * first.
 */
export function configWatch({ kubevirts }: SharedCaches, { reads, keys }: ConfigWatchSpec): Watch {
  const isOther = ({ old, object }: CacheChange<KubeObject>): boolean =>
    !isDeepStrictEqual(reads(old), reads(object));
  return {
    start: (run) => {
      let hasSynced = false;
      const unsubscribe = kubevirts.subscribe((change) => {
        if (hasSynced && isOther(change)) void wakeLater(keys, run);
      });
      run.signal.addEventListener("abort", unsubscribe, { once: true });
      const running = sharedWatch(kubevirts, { predicate: () => false }).start(run);
      const synced = running.synced.then(() => {
        hasSynced = true;
      });
      return { ...running, synced };
    },
  };
}

async function wakeLater(
  keys: ConfigWatchSpec["keys"],
  { clock, enqueue, signal }: Pick<WatchRun, "enqueue" | "signal"> & { readonly clock: Clock },
): Promise<void> {
  await sleep(clock, patience, signal);
  if (signal.aborted) return;
  for (const name of keys()) enqueue(name, "low");
}

/** The names of all objects of a cache, or of those in a namespace. */
export function namesIn<T extends KubeObject>(
  cache: Cache<T, string>,
  namespace?: string,
): readonly ObjectName[] {
  const listed = cache.list({ namespace });
  const objects = listed.state === "complete" ? listed.objects : listed.seen;
  return objects.map(({ metadata }) => ({
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
  }));
}
