import type { VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";
import type { NodeDomain } from "./node-view.ts";

/** Something to do for a VMI, in the order of the plan. The first five are calls to its launcher. */
export type NodeStep =
  /** Brings the guest to what the VMI says. `claims`: the run grant is claimed immediately before. */
  | { readonly do: "sync"; readonly claims: boolean }
  | { readonly do: "shutdown" }
  | { readonly do: "kill" }
  | { readonly do: "delete" }
  | { readonly do: "memory-dump"; readonly path: string }
  | { readonly do: "hotplug-host-devices" }
  /** Asks what the guest's agent can do, if the status does not say so. */
  | { readonly do: "guest-info" }
  /** Makes the sandbox ready for the guest: disks, devices, limits, network. */
  | { readonly do: "prepare" }
  | { readonly do: "lock-memory" }
  | { readonly do: "mount-hotplug" }
  | { readonly do: "unmount-hotplug" }
  /** Wires networks of a running guest that have arrived or should go. */
  | { readonly do: "wire-networks"; readonly networks: readonly string[] }
  | { readonly do: "housekeeping" }
  /** Undoes what was done on the node for the VMI with this UID, and forgets its domain. */
  | { readonly do: "clean-up"; readonly uid: string }
  | { readonly do: "hook"; readonly hook: NodeHook }
  | { readonly do: "checksums" }
  /** Marks backups of this VM that need their checkpoints created again. */
  | { readonly do: "mark-tracker"; readonly namespace: string; readonly name: string }
  | { readonly do: "write-status"; readonly status: VirtualMachineInstanceStatus };

/** Moments at which a platform may run its own code on the node. */
export type NodeHook = "PreVMStart" | "PostVMStart" | "PreVMStop" | "PostVMStop";

/** The outcome of a step. */
export type StepOutcome = {
  /** For `mount-hotplug` and `unmount-hotplug`: the hotplugged volumes that are in the Pod now. */
  readonly mounted?: readonly string[];
} & (
  | {
      readonly kind: "done";
      /** For `guest-info`. */
      readonly agent?: Pick<DomainStatus, "agentVersion" | "agentCommands">;
      /** For `checksums`. */
      readonly checksums?: Checksums;
      /** For `sync`: the current guest, which the status then reports. */
      readonly domain?: NodeDomain;
    }
  /** It cannot be done yet; without a time: soon, and then less often. */
  | { readonly kind: "later"; readonly afterSeconds?: number }
  | {
      readonly kind: "failed";
      readonly message: string;
      /** `lost`: the launcher disappeared during the call. `missing`: something that is needed does not exist. */
      readonly cause?: "lost" | "missing";
      /** A retry cannot help. */
      readonly isFinal?: boolean;
    }
);

/** Of the images that a guest boots from. */
export interface Checksums {
  /** By volume. */
  readonly disks?: Readonly<Record<string, number>>;
  readonly kernel?: number;
  readonly initrd?: number;
}
