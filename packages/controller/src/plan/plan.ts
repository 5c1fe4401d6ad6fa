import type { JsonPatchOperation, KubeObject, ObjectName, Resource } from "@virtkit/kube";
import type { GuestInPod } from "./guest-in-pod.ts";

/** One write to the API server, as a value. */
export type PlannedWrite =
  | {
      readonly kind: "create";
      readonly resource: Resource;
      readonly object: KubeObject;
      /** For example `eviction`; the object then names its parent. */
      readonly subresource?: string;
      /** Refused unless this guest is there and stays there, by a live read right before. */
      readonly guest?: GuestInPod;
    }
  | {
      readonly kind: "patch";
      readonly resource: Resource;
      readonly object: ObjectName;
      readonly subresource?: string;
      /** Its `test` operations make it fail if somebody else has changed the object. */
      readonly operations: readonly JsonPatchOperation[];
    }
  | {
      readonly kind: "delete";
      readonly resource: Resource;
      readonly object: ObjectName;
      /** Deletes only the object with this UID, not a later one of the same name. */
      readonly uid: string;
      readonly gracePeriodSeconds?: number;
      /** The object stays until everything that belongs to it is gone. */
      readonly propagationPolicy?: "Foreground";
    }
  /** A request to the VM subresources, for example `addvolume`. */
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
  /** The subject; by default the object of the plan. */
  readonly about?: EventSubject;
}

/**
 * Why a pass could not do everything that it should. The caller that carries out the plan tries
 * again later.
 */
export interface PlanError {
  /** `sync`: one of our rules, with its reason. `api`: the API server's refusal, with its reason. */
  readonly kind: "sync" | "api" | "other";
  readonly reason: string;
  readonly message: string;
}

/** What a controller has decided; nothing has happened yet. */
export interface Plan {
  /** In the order in which to carry them out. */
  readonly writes: readonly PlannedWrite[];
  readonly events: readonly PlannedEvent[];
  /** Look again after this many seconds, even if nothing changes. */
  readonly requeueAfterSeconds?: number;
  readonly error?: PlanError;
}
