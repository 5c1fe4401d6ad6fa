import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import { readSelector } from "../plan/label-selector.ts";
import { controllerOf } from "../plan/ownership.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { replicaSetReconciler } from "../replicaset/replica-set-reconciler.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import type { SharedCaches } from "./shared-caches.ts";
import { sharedWatch } from "./shared-watch.ts";

/** Replica sets and their VMIs. */
export const replicaSetPart: ControllerPartMaker = { name: "replicaset", make };

function make(context: PartContext): ControllerPart {
  const { caches, names } = context;
  const { replicaSets: kind } = vmResources(names);
  const config = () => context.config().cluster;
  const wall = () => context.wall();
  return {
    watches: [
      sharedWatch(caches.replicaSets),
      sharedWatch(caches.vmis, { keys: (vmi) => ownersOf(vmi, kind.kind, caches) }),
    ],
    reconcile: async (replicaSet, request) => {
      const { behindFor, ...runner } = context.runner(replicaSet);
      if (behindFor > 0) return { requeueAfter: behindFor };
      const reconcile = replicaSetReconciler({ ...runner, caches, config, wall });
      return await reconcile(replicaSet, request);
    },
  };
}

/** The replica set of a VMI, or those that would adopt it. */
function ownersOf(
  vmi: VirtualMachineInstance & KubeObject,
  kind: string,
  { replicaSets }: SharedCaches,
): readonly ObjectName[] {
  const { namespace = "", labels } = vmi.metadata;
  const owner = controllerOf(vmi);
  if (owner) return owner.kind === kind ? [{ namespace, name: owner.name }] : [];
  const listed = replicaSets.list({ namespace });
  const all = listed.state === "complete" ? listed.objects : listed.seen;
  return all
    .filter((each) => readSelector(at(each, "spec", "selector") as never)?.matches(labels))
    .map(({ metadata }) => ({ namespace, name: metadata.name ?? "" }));
}
