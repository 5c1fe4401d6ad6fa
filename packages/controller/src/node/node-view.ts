import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";

/** What is known about a node. Everything except the node itself is read live. */
export interface NodeView {
  readonly name: string;
  /** Absent if the node no longer exists. */
  readonly node?: KubeObject | undefined;
  /** The VMIs whose label says that they run here. */
  readonly vmis: readonly VirtualMachineInstance[];
  /** The Pods of all namespaces on this node. */
  readonly pods: readonly KubeObject[];
  /** The DaemonSets of node agents. */
  readonly daemonSets: readonly KubeObject[];
  /**
   * TSC frequencies that guests have or may get, in Hz: the node offers those that it can provide. Without it, what the
   * node offers is left as it is.
   */
  readonly requiredFrequencies?: readonly number[] | undefined;
}

/** How to judge nodes. */
export interface NodePlanConfig {
  readonly names?: Names;
  /** How old a heartbeat may be. By default 5 minutes. */
  readonly heartbeatTimeoutSeconds?: number;
  /**
   * Whether a node that never had a heartbeat counts as responsive. By default it does not, because
   * nobody looks after its VMIs. KubeVirt trusts such a node forever.
   */
  readonly trustSilentNodes?: boolean;
}
