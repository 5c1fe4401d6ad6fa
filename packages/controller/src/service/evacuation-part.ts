import { text } from "@virtkit/api/shape";
import type { ObjectName } from "@virtkit/kube";
import { evacuationReconciler } from "../evacuation/evacuation-reconciler.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { controllerOf } from "../vmi/own-pods.ts";
import { isDown } from "../vmi/pod-state.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import { sharedWatch } from "./shared-watch.ts";

/** Migrations for the VMIs that must leave a node. */
export const evacuationPart: ControllerPartMaker = { name: "evacuation", make };

function make(context: PartContext): ControllerPart {
  const { caches } = context;
  const config = () => context.config().cluster;
  const wall = () => context.wall();
  const nodeOf = (nodeName: unknown): readonly ObjectName[] =>
    text(nodeName) === "" ? [] : [{ name: text(nodeName) }];
  const nodeOfVmi = (namespace: unknown, name: unknown): readonly ObjectName[] => {
    const vmi = caches.vmis.get({ namespace: text(namespace), name: text(name) });
    return vmi.state === "present" ? nodeOf(vmi.object.status?.nodeName) : [];
  };
  return {
    concurrency: 2,
    watches: [
      sharedWatch(caches.nodes, {
        predicate: ({ old, object }) => taintsOf(old) !== taintsOf(object),
      }),
      sharedWatch(caches.vmis, { keys: ({ status }) => nodeOf(status?.nodeName) }),
      // One that has failed makes way for the next.
      sharedWatch(caches.migrations, {
        keys: ({ metadata, spec }) => nodeOfVmi(metadata.namespace, spec?.vmiName),
      }),
      // So does the Pod that a guest has left: an eviction may come before it has ended.
      sharedWatch(caches.pods, {
        predicate: ({ old, object }) => isActive(old) && !isActive(object),
        keys: ({ metadata }) => nodeOfVmi(metadata.namespace, controllerOf(metadata)?.name),
      }),
    ],
    reconcile: async (node, { signal }) => {
      const { behindFor, ...runner } = context.runner(node);
      if (behindFor > 0) return { requeueAfter: behindFor };
      return await evacuationReconciler({ ...runner, caches, config, wall })(node, { signal });
    },
  };
}

function isActive(pod: PodObject | undefined): boolean {
  return pod !== undefined && !isDown(pod);
}

function taintsOf(node: unknown): string {
  const { spec } = Object(node) as { spec?: { taints?: unknown } };
  return JSON.stringify(spec?.taints ?? []);
}
