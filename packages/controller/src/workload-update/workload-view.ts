import type { ClusterConfig } from "@virtkit/api/config";
import type {
  KubeVirt,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";

/** What a plan for workload updates needs to know about the cluster. */
export type WorkloadConfig = Pick<ClusterConfig, "names" | "migrations">;

/** The parts of a launcher Pod that matter here. */
export interface LauncherPod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

/** Everything that one pass over the VMIs of a cluster depends on. */
export interface WorkloadView {
  /** The KubeVirt object, whose spec says how VMIs are updated. */
  readonly kubevirt: KubeVirt;
  readonly vmis: readonly VirtualMachineInstance[];
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  /** Launcher Pods. */
  readonly pods: readonly LauncherPod[];
  /** The present image for launchers. */
  readonly launcherImage: string;
  /** When the last batch was evicted, in milliseconds since the epoch; long ago by default. */
  readonly lastEviction?: number | undefined;
  /** Migrations that an earlier pass has created and the view does not show yet. */
  readonly expected?: "creation" | undefined;
}
