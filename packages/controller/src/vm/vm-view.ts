import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import type { CloneSource } from "@virtkit/api/status";
import type { DataSource, VmStorage } from "@virtkit/api/status/vm";
import type { KubeObject, OwnerReference } from "@virtkit/kube";
import type { PodObject } from "../vmi/cluster-objects.ts";

/** What a plan for a VM needs to know about the cluster. */
export type VmConfig = ClusterConfig;

/** A stored copy of the spec of a VM, an instance type or a preference. */
export interface ControllerRevision extends KubeObject {
  readonly data?: unknown;
  readonly revision?: number;
}

/** An instance type or a preference, of a namespace or of the cluster. */
export interface TypeObject extends KubeObject {
  readonly spec?: unknown;
}

/** A clone that a new DataVolume would make; the VM's service account needs permission for it. */
export interface CloneRequest {
  readonly dataVolume: string;
  readonly source: CloneSource;
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
  /** The VMI with the VM's name, regardless of its owner. */
  readonly vmi?: VirtualMachineInstance | undefined;
  readonly dataVolumes?: readonly (DataVolume & Owned)[] | undefined;
  readonly claims?: readonly (VolumeClaim & Claim)[] | undefined;
  readonly dataSources?: readonly DataSource[] | undefined;
  /** Whether the cluster has no DataVolumes, because CDI is not installed. */
  readonly isWithoutCdi?: boolean | undefined;
  /** Revisions in the VM's namespace: its own, and those that its matchers name. */
  readonly revisions?: readonly ControllerRevision[];
  readonly instancetypes?: readonly TypeObject[];
  readonly clusterInstancetypes?: readonly TypeObject[];
  readonly preferences?: readonly TypeObject[];
  readonly clusterPreferences?: readonly TypeObject[];
  /** Labels of the VM's namespace. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | undefined;
  readonly expected?: VmExpectations | undefined;
  /**
   * What decides whether a guest of the VM may still run. Without it the plan is KubeVirt's: VMIs
   * are released by their phase, nothing is remembered, and every step is shown at once.
   */
  readonly grant?: VmGrantView | undefined;
  /**
   * Whether a clone is permitted; without an answer it is not. `cloneRequests` says what to ask
   * for.
   */
  readonly mayClone?: ((request: CloneRequest) => boolean) | undefined;
}

/** What is known about guests of a VM that may still run. */
export interface VmGrantView {
  /**
   * Whether the VM, its VMI and everything here were read from the API server, not from a cache.
   */
  readonly isLive: boolean;
  /** The launcher Pods of all present and earlier VMIs of the VM's name. */
  readonly pods: readonly PodObject[];
  /** The Nodes of these Pods and of everything that the VM remembers. */
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
  /** At least 0 and less than 1; spreads out the restarts of VMs that failed together. */
  readonly random?: () => number;
}
