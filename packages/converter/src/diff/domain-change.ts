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

/** What all changes have. */
export interface ChangeOutcome {
  readonly effect: ChangeEffect;
  /** A description of the change: `attach the disk "data" as vdb`. */
  readonly summary: string;
  /** Why it cannot be done live. */
  readonly reason?: string;
}

/** The subject of the change, with what a program needs to make it. */
export type ChangeOf =
  | { readonly kind: "detach-disk" | "attach-disk"; readonly disk: DomainDisk }
  /** `disk` is the running drive with the wanted medium; an empty source means no medium. */
  | { readonly kind: "change-media"; readonly disk: DomainDisk }
  | { readonly kind: "resize-disk"; readonly disk: DomainDisk; readonly bytes: number | bigint }
  | { readonly kind: "change-disk"; readonly disk: DomainDisk; readonly fields: readonly string[] }
  | {
      readonly kind: "detach-interface" | "attach-interface";
      readonly interface: DomainInterface;
    }
  /** `interface` is the running card with the wanted link state. */
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
  /** Anything else; `path` is a path in the model: `features.hyperv.relaxed`. */
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
   * Whether libvirt reported the running domain, with aliases, addresses and defaults filled in. What only that
   * one has is then not a difference.
   */
  readonly filledIn: boolean;
  /** Whether the cluster can plug a network into a running Pod. */
  readonly dynamicNetworks: boolean;
  readonly paths: LauncherPaths;
}
