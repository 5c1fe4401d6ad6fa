import type { KubeObject } from "../client/kube-object.ts";
import { defineResource, type Resource } from "../client/resource.ts";

/** A `coordination.k8s.io/v1` Lease. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** The spec of a {@link Lease}. */
export interface LeaseSpec {
  /** Empty or left out: nobody holds it. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

/** The resource of leases. */
export const leases: Resource<Lease> = defineResource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
});

/** A moment as leases write it, with microseconds. */
export function microTime(date: Date): string {
  return date.toISOString().replace("Z", "000Z");
}
