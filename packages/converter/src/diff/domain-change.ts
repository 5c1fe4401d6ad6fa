import type { LauncherPaths } from "../launcher-paths.ts";
import type { DomainCpuTune } from "../model/cpu.ts";
import type { DomainDisk } from "../model/disk.ts";
import type { DomainHostDevice } from "../model/host-device.ts";
import type { DomainInterface } from "../model/interface.ts";
import type { DomainMetadata } from "../model/metadata.ts";

/** What it takes to make a change: nothing, a new Pod for the same guest, or a restart of the guest. */
export type ChangeEffect = "live" | "needs-migration" | "needs-restart";

/** One step from the running domain to the wanted one. */
export type DomainChange = ChangeOutcome & ChangeOf;

/** What all changes say. */
export interface ChangeOutcome {
  readonly effect: ChangeEffect;
  /** What changes, for people: `attach the disk "data" as vdb`. */
  readonly summary: string;
  /** Why it cannot be done live. */
  readonly reason?: string;
}

/** What is to be changed, with what a program needs to do it. */
export type ChangeOf =
  | { readonly kind: "detach-disk" | "attach-disk"; readonly disk: DomainDisk }
  /** `disk` is the drive that runs, with the medium that is wanted; an empty source is no medium. */
  | { readonly kind: "change-media"; readonly disk: DomainDisk }
  | { readonly kind: "resize-disk"; readonly disk: DomainDisk; readonly bytes: number | bigint }
  | { readonly kind: "change-disk"; readonly disk: DomainDisk; readonly fields: readonly string[] }
  | {
      readonly kind: "detach-interface" | "attach-interface";
      readonly interface: DomainInterface;
    }
  /** `interface` is the card that runs, with the link state that is wanted. */
  | { readonly kind: "set-link-state"; readonly interface: DomainInterface }
  | {
      readonly kind: "change-interface";
      readonly interface: DomainInterface;
      readonly fields: readonly string[];
    }
  | {
      readonly kind: "detach-host-device" | "attach-host-device";
      readonly hostDevice: DomainHostDevice;
    }
  | {
      readonly kind: "change-host-device";
      readonly hostDevice: DomainHostDevice;
      readonly fields: readonly string[];
    }
  | { readonly kind: "set-vcpus" | "set-vcpu-limit"; readonly from: number; readonly to: number }
  | { readonly kind: "pin-cpus"; readonly cputune: DomainCpuTune }
  /** In bytes. */
  | {
      readonly kind: "set-memory" | "set-memory-limit";
      readonly from: number | bigint;
      readonly to: number | bigint;
    }
  | { readonly kind: "set-metadata"; readonly metadata: DomainMetadata }
  /** Anything else; `path` is one of the model: `features.hyperv.relaxed`. */
  | {
      readonly kind: "change-element";
      readonly path: string;
      readonly from: unknown;
      readonly to: unknown;
    };

/** The kind of a change. */
export type ChangeKind = ChangeOf["kind"];

/** What is the same for a whole comparison. */
export interface Comparison {
  /**
   * Whether the running domain is libvirt's own account of it, with aliases, addresses and defaults
   * filled in. What only that one has is no difference then.
   */
  readonly filledIn: boolean;
  /** Whether the cluster can plug a network into a Pod that runs. */
  readonly dynamicNetworks: boolean;
  readonly paths: LauncherPaths;
}
