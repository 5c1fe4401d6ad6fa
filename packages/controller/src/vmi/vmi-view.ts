import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import type { ClusterLookup } from "@virtkit/launcher-pod";
import type {
  CdiConfigObject,
  ClaimObject,
  DataVolumeObject,
  LabelledObject,
  PodObject,
  StorageClassObject,
  StorageProfileObject,
} from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";

/** What is known about a VMI and the objects around it. */
export interface VmiView {
  /** Absent if it is gone. */
  readonly vmi?: VirtualMachineInstance | undefined;
  /** Pods of its namespace: at least those that it or one of its Pods controls. */
  readonly pods: readonly PodObject[];
  /** Claims of its namespace. */
  readonly claims: readonly ClaimObject[];
  /** DataVolumes of its namespace. */
  readonly dataVolumes: readonly DataVolumeObject[];
  /** Migrations that name it. */
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  /** The VM of the name that its owner reference gives. */
  readonly vm?: LabelledObject | undefined;
  readonly storageClasses: readonly StorageClassObject[];
  readonly storageProfiles: readonly StorageProfileObject[];
  /** Installations of CDI; its configuration counts if there is exactly one. */
  readonly cdi: { readonly instances: number; readonly config?: CdiConfigObject | undefined };
  /** Whether the cluster has no Multus: then Pods only get the Pod network. */
  readonly isWithoutMultus?: boolean | undefined;
  /** The cluster's nodes; read only if the guest needs a TSC frequency. */
  nodes(): readonly LabelledObject[];
  /** The cluster's VMIs; read only if the guest needs a TSC frequency or a VSOCK address. */
  vmis(): readonly VirtualMachineInstance[];
  /** For the launcher Pod. */
  readonly lookup: ClusterLookup;
  /**
   * Whether this controller has written something that the view does not show yet. It must not
   * decide then, because it would do the same again.
   */
  readonly isBehind?: boolean;
  /**
   * What decides who may run the guest. Without it the plan is KubeVirt's: Pods are deleted and
   * VMIs released by what Pod objects say.
   */
  readonly grant?: GrantView;
}
