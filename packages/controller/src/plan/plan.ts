import type { JsonPatchOperation, KubeObject, ObjectName, Resource } from "@virtkit/kube";

/** One write to the API server, as a value. */
export type PlannedWrite =
  | {
      readonly kind: "create";
      readonly resource: Resource;
      readonly object: KubeObject;
      /** As `eviction`; the object then names its parent. */
      readonly subresource?: string;
    }
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
    }
  /** A request to the VM subresources, as `addvolume`. */
  | {
      readonly kind: "call";
      readonly resource: Resource;
      readonly object: ObjectName;
      readonly subresource: string;
      readonly body: unknown;
    };

/** What an event is about. */
export interface EventSubject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}

/** An event for people to see. */
export interface PlannedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** What it is about; by default the object of the plan. */
  readonly about?: EventSubject;
}

/** Why a pass could not do everything that it should. The caller that carries out the plan tries again later. */
export interface PlanError {
  /** `sync`: a rule says so, with a reason. `api`: the API server's own refusal, with its reason. */
  readonly kind: "sync" | "api" | "other";
  readonly reason: string;
  readonly message: string;
}

/** What a controller decided; nothing has happened yet. */
export interface Plan {
  /** In the order in which they are to be carried out. */
  readonly writes: readonly PlannedWrite[];
  readonly events: readonly PlannedEvent[];
  /** Look again after so many seconds, even if nothing changes. */
  readonly requeueAfterSeconds?: number;
  readonly error?: PlanError;
}
