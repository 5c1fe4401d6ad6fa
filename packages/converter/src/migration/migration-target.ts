import type { DomainCpuTopology, DomainCpuTune, DomainNumaTune, DomainVcpu } from "../model/cpu.ts";
import type { DomainFeatures } from "../model/features.ts";

/** How the place that a guest moves to differs from the source. What is missing here stays as it is. */
export interface MigrationTarget {
  /** Namespace in the paths of disks. */
  readonly namespace?: RenamedNamespace;
  /** The VMI's UID, which is replaced wherever it stands. */
  readonly uid?: { readonly from: string; readonly to: string };
  /** Where the guest has host CPUs of its own, those of the other node. */
  readonly cpus?: TargetCpus;
  /** Volumes whose content is copied along, by name. */
  readonly volumes?: Readonly<Record<string, CopiedVolume>>;
  /** Tap devices by name of the network, for cards whose tap device is named by its place. */
  readonly taps?: Readonly<Record<string, string>>;
  /** UUID of the mediated device that takes the place of the only host device. */
  readonly mediatedDevice?: string;
}

/** A namespace that has another name over there. */
export interface RenamedNamespace {
  readonly from: string;
  readonly to: string;
  /**
   * `segment` replaces a whole name between slashes; `text` the first occurrence anywhere, as
   * destinations without a hook of their own expect.
   */
  readonly match: "segment" | "text";
}

/** What depends on which host CPUs a guest has. */
export interface TargetCpus {
  readonly topology: DomainCpuTopology;
  readonly vcpu: DomainVcpu;
  readonly cputune: DomainCpuTune | undefined;
  readonly numatune: DomainNumaTune | undefined;
  readonly features: DomainFeatures | undefined;
}

/** A volume that is copied while the guest moves. */
export interface CopiedVolume {
  /** Size that the guest sees, in bytes, since the volume over there may be larger. */
  readonly virtualSize: number | bigint | undefined;
  /** Where it is over there, if it is of another kind than here. */
  readonly replacement?: { readonly file: string } | { readonly dev: string };
}
