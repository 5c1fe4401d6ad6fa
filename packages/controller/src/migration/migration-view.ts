import type {
  MigrationPolicy,
  ObjectMeta,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from "@virtkit/api/schema";
import type { Condition } from "@virtkit/api/status";
import type { ClusterLookup } from "@virtkit/launcher-pod";
import type {
  ClaimObject,
  LabelledObject,
  PodObject,
  StorageClassObject,
  StorageProfileObject,
} from "../vmi/cluster-objects.ts";
import type { GrantView } from "../vmi/grant-view.ts";

/** A job, as far as its outcome matters. */
export interface JobObject {
  readonly metadata?: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** What is known about a migration and the objects around it. */
export interface MigrationView {
  /** Absent if it is gone. */
  readonly migration?: VirtualMachineInstanceMigration | undefined;
  /** The VMI that the migration names. */
  readonly vmi?: VirtualMachineInstance | undefined;
  /** Pods of its namespace: at least those that the VMI or one of its Pods controls. */
  readonly pods: readonly PodObject[];
  /** Claims of its namespace. */
  readonly claims: readonly ClaimObject[];
  /** Every migration of the cluster, because the limits count them. */
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  /** The VMI of another migration. */
  vmiOf(migration: VirtualMachineInstanceMigration): VirtualMachineInstance | undefined;
  /** Whether another migration has a target Pod. */
  hasTargetPod(migration: VirtualMachineInstanceMigration): boolean;
  /** The cluster's nodes. */
  nodes(): readonly LabelledObject[];
  /** The namespace of the migration; policies select by its labels. */
  readonly namespace?: LabelledObject | undefined;
  readonly policies: readonly MigrationPolicy[];
  readonly storageClasses: readonly StorageClassObject[];
  readonly storageProfiles: readonly StorageProfileObject[];
  /** The job that checks the state of an interrupted migration. */
  readonly recoveryJob?: JobObject | undefined;
  /** For the target Pod. */
  readonly lookup: ClusterLookup;
  /** The addresses at which other clusters reach this one. */
  readonly synchronizationAddresses?: readonly string[] | undefined;
  /**
   * Whether this controller has created or deleted something for the migration that the view does
   * not show yet. It must not do so again.
   */
  readonly isBehind?: boolean;
  /** Whether it has created a target Pod for any migration that the view does not show yet. */
  readonly isAnyBehind?: boolean;
  /** Whether it has handed the migration off and the view does not show it yet. */
  readonly isHandedOff?: boolean;
  /**
   * What decides who may run the guest. Without it the plan is KubeVirt's: node agents are told
   * about the migration and settle the rest between themselves.
   */
  readonly grant?: GrantView;
}
