import { text } from "@virtkit/api/shape";
import type { ObjectName } from "@virtkit/kube";
import { evacuationReconciler } from "../evacuation/evacuation-reconciler.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import { sharedWatch } from "./shared-watch.ts";

/** Migrations for the VMIs that have to leave a node. */
export const evacuationPart: ControllerPartMaker = { name: "evacuation", make };

function make(context: PartContext): ControllerPart {
  const { caches } = context;
  const config = () => context.config().cluster;
  const wall = () => context.wall();
  const nodeOf = (nodeName: unknown): readonly ObjectName[] =>
    text(nodeName) === "" ? [] : [{ name: text(nodeName) }];
  return {
    concurrency: 2,
    watches: [
      sharedWatch(caches.nodes, {
        predicate: ({ old, object }) => taintsOf(old) !== taintsOf(object),
      }),
      sharedWatch(caches.vmis, { keys: ({ status }) => nodeOf(status?.nodeName) }),
      // One that has failed makes way for the next.
      sharedWatch(caches.migrations, {
        keys: ({ metadata, spec }) => {
          const vmi = caches.vmis.get({
            namespace: metadata.namespace ?? "",
            name: text(spec?.vmiName),
          });
          return vmi.state === "present" ? nodeOf(vmi.object.status?.nodeName) : [];
        },
      }),
      sharedWatch(caches.pods, { predicate: () => false }),
    ],
    reconcile: async (node, { signal }) => {
      const { behindFor, ...runner } = context.runner(node);
      if (behindFor > 0) return { requeueAfter: behindFor };
      return await evacuationReconciler({ ...runner, caches, config, wall })(node, { signal });
    },
  };
}

function taintsOf(node: unknown): string {
  const { spec } = Object(node) as { spec?: { taints?: unknown } };
  return JSON.stringify(spec?.taints ?? []);
}
