import type { KubeObject } from "../client/kube-object.ts";
import { defineResource, type Resource } from "../client/resource.ts";

/** A reference to the object that an event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** A core/v1 Event. */
export interface KubeEvent extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
}

/** `Normal`, or `Warning` if it needs attention. */
export type EventType = "Normal" | "Warning";

/** The resource of events. */
export const events: Resource<KubeEvent> = defineResource<KubeEvent>({
  version: "v1",
  plural: "events",
  kind: "Event",
});
