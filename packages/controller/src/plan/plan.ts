import type { JsonPatchOperation, KubeObject, ObjectName, Resource } from "@virtkit/kube";

/** One write to the API server, as a value. */
export type PlannedWrite =
  | { readonly kind: "create"; readonly resource: Resource; readonly object: KubeObject }
  | {
      readonly kind: "patch";
      readonly resource: Resource;
      readonly object: ObjectName;
      readonly subresource?: string;
      /** Its `test` operations make it fail if somebody else was faster. */
      readonly operations: readonly JsonPatchOperation[];
    }
  | {
      readonly kind: "delete";
      readonly resource: Resource;
      readonly object: ObjectName;
      /** Delete this object and none that has taken its name since. */
      readonly uid: string;
      readonly gracePeriodSeconds?: number;
    };

/** An event for people to see. */
export interface PlannedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** What it is about; by default the object of the plan. */
  readonly about?: KubeObject;
}
