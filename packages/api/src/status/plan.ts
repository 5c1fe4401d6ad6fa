import type { PatchOperation } from "../network/vm-network-sync.ts";
import type { VirtualMachine } from "../schema/index.ts";

/** The objects that a controller writes. */
export type Resource =
  | "virtualmachines"
  | "virtualmachineinstances"
  | "virtualmachineinstancemigrations"
  | "datavolumes"
  | "controllerrevisions";

/** What a DataVolume clones. */
export interface CloneSource {
  readonly kind: "PersistentVolumeClaim" | "VolumeSnapshot";
  readonly namespace: string;
  readonly name: string;
}

/** One write to the API server, as a value. */
export type Write =
  | {
      readonly kind: "create";
      readonly resource: Resource;
      readonly object: Readonly<Record<string, unknown>>;
      /** A source that the VM's service account must be allowed to clone; check that first. */
      readonly clones?: CloneSource;
      readonly dryRun?: boolean;
    }
  | {
      readonly kind: "delete";
      readonly resource: Resource;
      readonly name: string;
      /** Deletes only the object with this UID, not a later one of the same name. */
      readonly uid?: string;
    }
  | {
      readonly kind: "update";
      readonly resource: Resource;
      readonly subresource?: "status";
      /** With the resource version that was read, so that it fails if somebody else has changed the object. */
      readonly object: VirtualMachine;
    }
  | {
      readonly kind: "patch";
      readonly resource: Resource;
      readonly subresource?: "status";
      readonly name: string;
      /** A JSON patch; its tests make it fail if somebody else has changed the object. */
      readonly patch: readonly PatchOperation[];
      readonly dryRun?: boolean;
    };

/** An event for the user to see. */
export interface PlannedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Why a decision could not be carried out; shown as the VM's `Failure` condition. */
export interface PlanFailure {
  readonly reason: string;
  readonly message: string;
}

/** What a controller has decided; nothing has happened yet. */
export interface VmPlan {
  readonly writes: readonly Write[];
  readonly events: readonly PlannedEvent[];
  /** The VM as it should be. If its spec differs from the given one, it must be written. */
  readonly vm: VirtualMachine;
  readonly failure?: PlanFailure;
  /** Look again after this many seconds, even if nothing changes. */
  readonly requeueAfterSeconds?: number;
}
