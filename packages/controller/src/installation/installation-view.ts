import type { KubeVirt } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";

/** Everything that the status of an installation depends on. */
export interface InstallationView {
  readonly kubevirt: KubeVirt;
  /** The Deployments and DaemonSets of the installation, by name; others are ignored. */
  readonly workloads: readonly KubeObject[];
  /** The present image for launchers. */
  readonly launcherImage: string;
  /** Of the programs themselves, such as `amd64`: the default for guests. */
  readonly architecture: string;
}
