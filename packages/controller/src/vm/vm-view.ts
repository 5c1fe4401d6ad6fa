import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import type { DataSource, VmStorage } from "@virtkit/api/status/vm";
import type { KubeObject, OwnerReference } from "@virtkit/kube";
import type { PodObject } from "../vmi/cluster-objects.ts";

/** What a plan for a VM needs to know of the cluster. */
export type VmConfig = ClusterConfig;

/** A stored copy of a VM's spec, or of an instance type or a preference. */
export interface ControllerRevision extends KubeObject {
  readonly data?: unknown;
  readonly revision?: number;
}

/** An instance type or a preference, of a namespace or of the cluster. */
export interface TypeObject extends KubeObject {
  readonly spec?: unknown;
}

/** A clone that a new DataVolume would make, for which the VM's service account needs permission. */
export interface CloneRequest {
  readonly dataVolume: string;
  /** What is cloned: a claim or a snapshot. */
  readonly source: { readonly namespace: string; readonly name: string };
  readonly serviceAccount: { readonly namespace: string; readonly name: string };
}

/** Requests of an earlier pass that the view does not show yet. */
export interface VmExpectations {
  readonly vmi?: "creation" | "deletion" | undefined;
  readonly dataVolume?: "creation" | "deletion" | undefined;
}

type DataVolume = NonNullable<VmStorage["dataVolumes"]>[number];
type VolumeClaim = NonNullable<VmStorage["claims"]>[number];

/** Everything that one pass over a VM depends on. */
export interface VmPassView extends VmStorage {
  readonly vm: VirtualMachine;
  /** The VMI of the VM's name, whoever it belongs to. */
  readonly vmi?: VirtualMachineInstance | undefined;
  readonly dataVolumes?: readonly (DataVolume & Owned)[] | undefined;
  readonly claims?: readonly (VolumeClaim & Claim)[] | undefined;
  readonly dataSources?: readonly DataSource[] | undefined;
  /** Whether the cluster has no DataVolumes, because CDI is not installed. */
  readonly isWithoutCdi?: boolean | undefined;
  /** Revisions of the VM's namespace: its own, and those that its matchers name. */
  readonly revisions?: readonly ControllerRevision[];
  readonly instancetypes?: readonly TypeObject[];
  readonly clusterInstancetypes?: readonly TypeObject[];
  readonly preferences?: readonly TypeObject[];
  readonly clusterPreferences?: readonly TypeObject[];
  /** Labels of the VM's namespace. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | undefined;
  readonly expected?: VmExpectations | undefined;
  /**
   * What decides whether a guest of the VM may still run. Without it the plan is KubeVirt's: VMIs are let go by
   * their phase, nobody remembers them, and every step is shown at once.
   */
  readonly grant?: VmGrantView | undefined;
  /** Whether a clone is permitted; without an answer none is. `cloneRequests` says what to ask for. */
  readonly mayClone?: ((request: CloneRequest) => boolean) | undefined;
}

/** What is known about guests of a VM that may still run. */
export interface VmGrantView {
  /** Whether the VM, its VMI and all that is here were read from the API server, not from a cache. */
  readonly isLive: boolean;
  /** The launcher Pods of every VMI that has or had the VM's name. */
  readonly pods: readonly PodObject[];
  /** The Nodes of these Pods and of all that the VM remembers. */
  readonly nodes: readonly unknown[];
}

interface Owned {
  readonly metadata?: { readonly ownerReferences?: readonly OwnerReference[] };
}

/** The parts of a claim that volume migrations and memory dumps read. */
export interface Claim {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly volumeMode?: string;
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
    readonly dataSourceRef?: unknown;
  };
  readonly status?: { readonly capacity?: Readonly<Record<string, string>> };
}

/** Settings of the controller itself. */
export interface VmOptions {
  /** Annotations of the template that running VMIs follow; one that ends in `*` is a prefix. */
  readonly syncedAnnotations?: readonly string[];
  /** The same for labels. */
  readonly syncedLabels?: readonly string[];
  /** From 0 up to but without 1; spreads out VMs that failed together. */
  readonly random?: () => number;
}
