import type { Names } from "@virtkit/api/names";
import type { KubeClient, ObjectName } from "@virtkit/kube";
import { ControllerError } from "../plan/controller-error.ts";
import { cachedVmiView } from "./cached-vmi-view.ts";
import { liveGrantView } from "./live-grant-view.ts";
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
  return {
    cached,
    live: async (name, { signal }) => {
      const view = cached(name);
      if (!view) {
        const path = `${name.namespace}/${name.name}`;
        const message = `the caches have not synced everything around VMI ${path} yet`;
        throw new ControllerError("CONTROLLER_NOT_SYNCED", message, { path });
      }
      const { vmi, vm, grant } = await liveGrantView(client, name, { names, signal });
      // Pods that attach volumes hold no guest, so a cache is good enough for them.
      const attachments = view.pods.filter((pod) => podIndexes.vmi(pod).length === 0);
      return { ...view, vmi, vm, pods: [...grant.pods, ...attachments], grant };
    },
  };
}
