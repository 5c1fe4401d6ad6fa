import { isDeepStrictEqual } from "node:util";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
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
  const vmiNamed = (namespace: unknown, name: unknown): VirtualMachineInstance | undefined => {
    const vmi = caches.vmis.get({ namespace: text(namespace), name: text(name) });
    return vmi.state === "present" ? vmi.object : undefined;
  };
  const nodeOfVmi = (vmi: VirtualMachineInstance | undefined): readonly ObjectName[] =>
    nodeOf(vmi?.status?.nodeName);
  const vmiOfPod = ({ metadata }: PodObject): VirtualMachineInstance | undefined =>
    vmiNamed(metadata?.namespace, controllerOf(metadata)?.name);
  /** Whether a VMI is marked by an eviction, or on a node that is drained. */
  const mayLeave = (vmi: VirtualMachineInstance | undefined): boolean => {
    const { nodeName = "", evacuationNodeName } = vmi?.status ?? {};
    if (evacuationNodeName) return true;
    const node = caches.nodes.get({ name: nodeName });
    const { nodeDrainTaintKey } = config().migrations;
    return (
      node.state === "present" && taintsOf(node.object).some(({ key }) => key === nodeDrainTaintKey)
    );
  };
  return {
    concurrency: 2,
    watches: [
      sharedWatch(caches.nodes, {
        predicate: ({ old, object }) => !isDeepStrictEqual(taintsOf(old), taintsOf(object)),
      }),
      // Every change to a VMI comes here, and a pass looks at all VMIs of a node.
      sharedWatch(caches.vmis, {
        predicate: ({ old, object }) => mayLeave(old) || mayLeave(object),
        keys: ({ status }) => nodeOf(status?.nodeName),
      }),
      // A failed migration makes way for the next.
      sharedWatch(caches.migrations, {
        keys: ({ metadata, spec }) => nodeOfVmi(vmiNamed(metadata.namespace, spec?.vmiName)),
      }),
      // So does the Pod that a guest has left: an eviction may come before it has ended.
      sharedWatch(caches.pods, {
        predicate: ({ old, object }) =>
          old !== undefined && isActive(old) && !isActive(object) && mayLeave(vmiOfPod(old)),
        keys: (pod) => nodeOfVmi(vmiOfPod(pod)),
      }),
    ],
    reconcile: async (node, request) => {
      const { behindFor, ...runner } = context.runner(node);
      if (behindFor > 0) return { requeueAfter: behindFor };
      return await evacuationReconciler({ ...runner, caches, config, wall })(node, request);
    },
  };
}

function isActive(pod: PodObject | undefined): boolean {
  return pod !== undefined && !isDown(pod);
}

function taintsOf(node: unknown): readonly { readonly key?: string }[] {
  return objects(at(node, "spec", "taints"));
}
