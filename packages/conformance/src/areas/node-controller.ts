import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { planNode } from "@virtkit/controller/node";
import { carryOut, type PlannedEvent } from "@virtkit/controller/plan";
import type { KubeObject } from "@virtkit/kube";
import type { BatchFunction } from "../batch/batch-area.ts";
import { reconcileAnswer } from "../reconcile/reconcile-answer.ts";
import { RecordedCluster } from "../reconcile/recorded-cluster.ts";
import { textField } from "./input-fields.ts";
import { contextConfig, contextTime } from "./request-context.ts";

/** The functions of area `node-controller`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const cluster = new RecordedCluster(input, context, { updates: false });
    const name = textField(input, "key");
    const { names } = contextConfig(context);
    const view = {
      name,
      node: cluster.cached<KubeObject>("nodes").find(({ metadata }) => metadata.name === name),
      vmis: cluster
        .live<VirtualMachineInstance>("virtualMachineInstances")
        .filter(({ metadata }) => metadata?.labels?.[names.labels.nodeName] === name),
      pods: cluster
        .live<KubeObject & { readonly spec?: { readonly nodeName?: string } }>("pods")
        .filter(({ spec }) => spec?.nodeName === name),
      daemonSets: cluster.live("daemonSets"),
    };
    const config = { names, trustSilentNodes: true };
    const now = contextTime(context) ?? 0;
    const plan = await carryOut((outcomes) => planNode(view, config, now, outcomes), cluster);
    // The area records them so.
    const events = plan.events.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    return reconcileAnswer({ ...plan, events }, cluster, view.node);
  },
};

function placeOf({ about, type, reason }: PlannedEvent): string {
  return [about?.kind, about?.metadata?.name, type, reason].join("/");
}
