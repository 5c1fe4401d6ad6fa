import type { ClusterConfig } from "@virtkit/api/config";
import type {
  LabelSelector,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineSpec,
} from "@virtkit/api/schema";
import type { Condition } from "@virtkit/api/status";
import type { KubeObject } from "@virtkit/kube";

/** What a plan for a pool needs to know about the cluster. */
export type PoolConfig = Pick<ClusterConfig, "names">;

/** How to pick VMs for scaling in and for updates. */
export interface SelectionPolicy {
  /** `Random` (by default), `AscendingOrder`, `DescendingOrder`, `Newest` or `Oldest`. */
  readonly sortPolicy?: string;
  readonly selectors?: {
    readonly labelSelector?: LabelSelector;
    readonly nodeSelectorRequirementMatcher?: readonly unknown[];
  };
}

/** What happens to the volumes of a deleted VM: `Disabled`, `Offline` or `Online`. */
export type StatePreservation = string;

/** A set of numbered VMs that are created from one template. */
export interface VirtualMachinePool extends KubeObject {
  readonly spec: {
    /** 1 if absent. */
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly selector?: LabelSelector;
    readonly virtualMachineTemplate?: VmTemplate;
    readonly nameGeneration?: {
      readonly appendIndexToConfigMapRefs?: boolean;
      readonly appendIndexToSecretRefs?: boolean;
    };
    readonly maxUnavailable?: number | string;
    readonly scaleInStrategy?: {
      readonly unmanaged?: object;
      readonly opportunistic?: { readonly statePreservation?: StatePreservation };
      readonly proactive?: {
        readonly selectionPolicy?: SelectionPolicy;
        readonly statePreservation?: StatePreservation;
      };
    };
    readonly updateStrategy?: {
      readonly unmanaged?: object;
      readonly opportunistic?: object;
      readonly proactive?: { readonly selectionPolicy?: SelectionPolicy };
    };
    readonly autohealing?: {
      readonly startUpFailureThreshold?: number;
      readonly minFailingToStartDuration?: string;
    };
  };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly labelSelector?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** What the VMs of a pool are made from. */
export interface VmTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: VirtualMachineSpec;
}

/** A stored copy of a pool's spec. */
export interface PoolRevision extends KubeObject {
  readonly data?: unknown;
}

/** Everything that one pass over a pool depends on. */
export interface PoolView {
  readonly pool: VirtualMachinePool;
  /** All VMs of its namespace, regardless of their owners, with their VMIs. */
  readonly vms: readonly VirtualMachine[];
  readonly vmis: readonly VirtualMachineInstance[];
  readonly dataVolumes?: readonly KubeObject[];
  readonly claims?: readonly KubeObject[];
  readonly revisions: readonly PoolRevision[];
  /** What an earlier pass has requested and the view does not show yet. */
  readonly expected?: "creation" | "deletion" | undefined;
}
