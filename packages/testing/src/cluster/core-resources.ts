import { defineResource, type KubeObject, type Resource } from "@virtkit/kube";

/** What the simulated scheduler and kubelet read and write of a Pod. */
export interface SimulatedPod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly schedulerName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Toleration[];
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
        };
      };
    };
    readonly restartPolicy?: string;
    readonly terminationGracePeriodSeconds?: number;
    readonly readinessGates?: readonly { readonly conditionType: string }[];
    readonly initContainers?: readonly SimulatedContainer[];
    readonly containers: readonly SimulatedContainer[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly PodCondition[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface SimulatedContainer {
  readonly name: string;
  readonly image?: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly lastState?: Readonly<Record<string, unknown>>;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[];
  readonly matchFields?: readonly NodeRequirement[];
}

export interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** What they read and write of a node. */
export interface SimulatedNode extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly {
      readonly key: string;
      readonly value?: string;
      readonly effect: string;
    }[];
  };
  readonly status?: {
    readonly conditions?: readonly PodCondition[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly nodeInfo?: Readonly<Record<string, string>>;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

export const pods: Resource<SimulatedPod> = defineResource({
  version: "v1",
  plural: "pods",
  kind: "Pod",
});

export const nodes: Resource<SimulatedNode> = defineResource({
  version: "v1",
  plural: "nodes",
  kind: "Node",
  namespaced: false,
});

export const leases: Resource<KubeObject & { readonly spec?: Readonly<Record<string, unknown>> }> =
  defineResource({
    group: "coordination.k8s.io",
    version: "v1",
    plural: "leases",
    kind: "Lease",
  });
