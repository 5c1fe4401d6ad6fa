import type { DomainCpuTopology, DomainCpuTune, DomainNumaTune, DomainVcpu } from "../model/cpu.ts";
import type { DomainFeatures } from "../model/features.ts";

/** How the destination differs from the source. What is missing here stays unchanged. */
export interface MigrationTarget {
  /** Namespace in the paths of disks. */
  readonly namespace?: RenamedNamespace;
  /** The VMI's UID, which is replaced wherever it occurs. */
  readonly uid?: { readonly from: string; readonly to: string };
  /** If the guest has dedicated CPUs, those of the other node. */
  readonly cpus?: TargetCpus;
  /** Volumes whose content is copied, by name. */
  readonly volumes?: Readonly<Record<string, CopiedVolume>>;
  /** TAP devices by network name, for cards whose TAP device is named by position. */
  readonly taps?: Readonly<Record<string, string>>;
  /** UUID of the mediated device that replaces the only host device. */
  readonly mediatedDevice?: string;
}

/** A namespace with another name at the destination. */
export interface RenamedNamespace {
  readonly from: string;
  readonly to: string;
  /**
   * `segment` replaces a whole name between slashes; `text` the first occurrence anywhere, as destinations
   * without a hook expect.
   */
  readonly match: "segment" | "text";
}

/** What depends on the guest's host CPUs. */
export interface TargetCpus {
  readonly topology: DomainCpuTopology;
  readonly vcpu: DomainVcpu;
  readonly cputune: DomainCpuTune | undefined;
  readonly numatune: DomainNumaTune | undefined;
  readonly features: DomainFeatures | undefined;
}

/** A volume that is copied while the guest moves. */
export interface CopiedVolume {
  /** Size that the guest sees, in bytes, because the volume at the destination may be larger. */
  readonly virtualSize: number | bigint | undefined;
  /** Where it is at the destination, if its kind differs. */
  readonly replacement?: { readonly file: string } | { readonly dev: string };
}
