import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { LauncherProfile } from "@virtkit/launcher-pod";

/** How VMIs are run. */
export interface VmiPlanConfig {
  readonly cluster: ClusterConfig;
  readonly profile: LauncherProfile;
  /** Annotations of the VMI that its Pod has, too; `example.com/*` stands for all with that start. */
  readonly syncedAnnotations?: readonly string[];
  /** The same for labels. */
  readonly syncedLabels?: readonly string[];
  /**
   * The name of the launcher Pod. By default the API server makes one up; a name that follows from the VMI
   * makes two controllers collide rather than create two Pods.
   */
  podName?(vmi: VirtualMachineInstance): string;
}
