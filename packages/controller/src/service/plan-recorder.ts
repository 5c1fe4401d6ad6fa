import type { Names } from "@virtkit/api/names";
import type { KubeObject, Resource } from "@virtkit/kube";
import type { EventRecorder } from "@virtkit/kube/writes";
import { nodeResource, podResource } from "../plan/resources.ts";
import type { PlanRunner } from "../plan/run-plan.ts";
import { vmResources } from "../plan/vm-resources.ts";

/** Records the events of plans. Objects from lists do not have a kind; here they are VMIs. */
export function planRecorder(recorder: EventRecorder, names: Names): PlanRunner["record"] {
  const resources = vmResources(names);
  const byKind = new Map<string, Resource>(
    [...Object.values(resources), podResource, nodeResource].map((each) => [each.kind, each]),
  );
  return (about, event) => {
    const resource = byKind.get(about.kind ?? resources.vmis.kind);
    if (resource && about.metadata) recorder.record(resource, about as KubeObject, event);
  };
}
