import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from "@virtkit/api/schema";

/** What a plan for a replica set needs to know about the cluster. */
export type ReplicaSetConfig = Pick<ClusterConfig, "names">;

/** Everything that one pass over a replica set depends on. */
export interface ReplicaSetView {
  readonly replicaSet: VirtualMachineInstanceReplicaSet;
  /** All VMIs of its namespace, regardless of their owners. */
  readonly vmis: readonly VirtualMachineInstance[];
  /**
   * What an earlier pass has requested and the view does not show yet. Until it does, nothing is
   * created or deleted, so that nothing is done twice.
   */
  readonly expected?: "creation" | "deletion" | undefined;
}
