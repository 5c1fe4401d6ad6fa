import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from "@virtkit/api/schema";

/** What a plan for a replica set needs to know of the cluster. */
export type ReplicaSetConfig = Pick<ClusterConfig, "names">;

/** Everything that one pass over a replica set depends on. */
export interface ReplicaSetView {
  readonly replicaSet: VirtualMachineInstanceReplicaSet;
  /** The VMIs of its namespace, whoever they belong to. */
  readonly vmis: readonly VirtualMachineInstance[];
  /**
   * What an earlier pass has asked of the API server and the view does not show yet: until it does, nothing
   * is created or deleted, or it would be done twice.
   */
  readonly expected?: "creation" | "deletion" | undefined;
}
