import type { Names } from "@virtkit/api/names";
import type { KubeClient, ObjectName } from "@virtkit/kube";
import { ControllerError } from "../plan/controller-error.ts";
import { listAll } from "../plan/list-all.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { cachedVmiView } from "./cached-vmi-view.ts";
import { liveGrantView } from "./live-grant-view.ts";
import { unknownTargets } from "./unknown-targets.ts";
import { podIndexes, type VmiCaches } from "./vmi-caches.ts";
import type { VmiSources } from "./vmi-reconciler.ts";
import type { VmiView } from "./vmi-view.ts";

/** Options of {@link vmiSources}. */
export interface VmiSourcesOptions {
  readonly caches: VmiCaches;
  readonly client: Pick<KubeClient, "get" | "list">;
  readonly names: Names;
  /** Whether this controller has written something about a VMI that the caches do not show yet. */
  isBehind(vmi: ObjectName): boolean;
}

/**
 * Caches for ordinary passes, and the API server for decisions that must not be made from a cache.
 */
export function vmiSources(options: VmiSourcesOptions): VmiSources {
  const { caches, client, names } = options;
  const cached = (vmi: ObjectName): VmiView | undefined =>
    cachedVmiView(caches, vmi, { names, isBehind: options.isBehind(vmi) });
  /** The migrations of the cache, and those of a namespace that it does not show yet. */
  const allMigrations = async (
    known: VmiView["migrations"],
    { namespace }: ObjectName,
    signal: AbortSignal | undefined,
  ): Promise<VmiView["migrations"]> => {
    const seen = new Set(known.map(({ metadata }) => metadata?.uid));
    const live = await listAll(client, vmResources(names).migrations, { namespace, signal });
    const unseen = live.filter(({ metadata }) => !seen.has(metadata.uid));
    return [...known, ...(unseen as unknown as VmiView["migrations"])];
  };
  return {
    cached,
    live: async (name, { signal }) => {
      const view = cached(name);
      if (!view) {
        const path = `${name.namespace}/${name.name}`;
        const message = `the caches have not synced everything around VMI ${path} yet`;
        throw new ControllerError("CONTROLLER_NOT_SYNCED", message, { path });
      }
      const { vmi, vm, grant } = await liveGrantView(client, name, {
        ...{ names, signal },
        cachedPods: view.grant?.pods,
      });
      // Pods that attach volumes hold no guest, so a cache is good enough for them.
      const attachments = view.pods.filter((pod) => podIndexes.vmi(pod).length === 0);
      const found = { ...view, vmi, vm, pods: [...grant.pods, ...attachments], grant };
      if (unknownTargets(found, names).length === 0) return found;
      return { ...found, migrations: await allMigrations(view.migrations, name, signal) };
    },
  };
}
