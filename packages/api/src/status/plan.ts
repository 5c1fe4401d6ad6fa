import type { PatchOperation } from "../network/vm-network-sync.ts";
import type { VirtualMachine } from "../schema/index.ts";

/** What a controller writes to. */
export type Resource =
  | "virtualmachines"
  | "virtualmachineinstances"
  | "virtualmachineinstancemigrations"
  | "datavolumes"
  | "controllerrevisions";

/** One write to the API server, as a value. */
export type Write =
  | {
      readonly kind: "create";
      readonly resource: Resource;
      readonly object: Readonly<Record<string, unknown>>;
      /** A source that the VM's service account must be allowed to clone, which is to be asked first. */
      readonly clones?: { readonly namespace: string; readonly name: string };
      readonly dryRun?: boolean;
    }
  | {
      readonly kind: "delete";
      readonly resource: Resource;
      readonly name: string;
      /** Delete this object and none that has taken its name since. */
      readonly uid?: string;
    }
  | {
      readonly kind: "update";
      readonly resource: Resource;
      readonly subresource?: "status";
      /** With the resource version that was read, so that it fails if somebody else was faster. */
      readonly object: VirtualMachine;
    }
  | {
      readonly kind: "patch";
      readonly resource: Resource;
      readonly subresource?: "status";
      readonly name: string;
      /** A JSON patch; its tests make it fail if somebody else was faster. */
      readonly patch: readonly PatchOperation[];
      readonly dryRun?: boolean;
    };

/** An event for the user to see. */
export interface PlannedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Why a decision could not be carried through; shown as the VM's `Failure` condition. */
export interface PlanFailure {
  readonly reason: string;
  readonly message: string;
}

/** What a controller decided: nothing of it has happened yet. */
export interface VmPlan {
  readonly writes: readonly Write[];
  readonly events: readonly PlannedEvent[];
  /** The VM as it should be. Where its spec differs from what was passed in, it is to be written. */
  readonly vm: VirtualMachine;
  readonly failure?: PlanFailure;
  /** Look again after so many seconds, even if nothing changes. */
  readonly requeueAfterSeconds?: number;
}
