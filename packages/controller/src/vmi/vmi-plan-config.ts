import type { ClusterConfig } from "@virtkit/api/config";
import type { LauncherProfile } from "@virtkit/launcher-pod";

/** How VMIs are run. */
export interface VmiPlanConfig {
  readonly cluster: ClusterConfig;
  readonly profile: LauncherProfile;
  /**
   * Annotations of the VMI that its Pod gets, too; `example.com/*` stands for all with that prefix.
   */
  readonly syncedAnnotations?: readonly string[];
  /** The same for labels. */
  readonly syncedLabels?: readonly string[];
  /**
   * Where the name of a launcher Pod comes from. By default it follows from the VMI's UID and the
   * number of the holder, so that two controllers collide instead of creating two Pods; `generated`
   * leaves it to the API server, as KubeVirt does.
   */
  readonly podNames?: "derived" | "generated";
  /**
   * Whether each step is written at once, as KubeVirt does. By default what belongs together is one
   * write: a VMI whose Pod is ready within seconds goes from `Pending` to `Scheduled`, its Pod gets
   * its node and opens its readiness gate in one write, and what nobody acts on (`activePods`, or
   * that a VMI which is being deleted is no longer ready) is written with the next step.
   */
  readonly stepByStep?: boolean;
}
