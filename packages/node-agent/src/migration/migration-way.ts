import type { Observers } from "@virtkit/api/observe";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { Encryption } from "@virtkit/migration/policy";
import type { Credentials } from "@virtkit/pki";
import type { Listener } from "./plan-target-duty.ts";

/** What both ends of the way between two launchers are made with. */
export interface WayOptions extends Observers {
  readonly migrationUID: string;
  /** Of this side of this migration. */
  readonly credentials: Credentials;
  /** Who encrypts memory and disks; QEMU does so with the same credentials. */
  readonly encryption: Encryption;
  readonly signal?: AbortSignal;
}

/** How the target is reached. */
export interface WayOutOptions extends WayOptions {
  readonly target: Listener;
}

/** Where the target listens. */
export interface WayInOptions extends WayOptions {
  /** The numeric address, of a network that the nodes migrate over. */
  readonly address: string;
}

/** Sockets of one side, as its launcher sees them. */
export interface WaySockets {
  /** Where the other launcher is reached. */
  readonly peer: string;
  /** Where this launcher answers the other one. */
  readonly serve: string;
  /** Where QEMU listens, or sends to. */
  readonly memory: string;
  readonly disks: string;
}

/** One end of the way between two launchers; what it carries ends with it. */
export interface MigrationWay extends AsyncDisposable {
  readonly sockets: WaySockets;
}

/** The target's end. */
export interface WayIn extends MigrationWay {
  readonly listener: Listener;
}

/** The source's end. */
export interface WayOut extends MigrationWay {
  /** Whether the target's launcher answers for this very handover. Rejects where it belongs to another. */
  isReady(
    migration: MigrationIdentity,
    options: { readonly signal: AbortSignal },
  ): Promise<boolean>;
}

/** The ports of a target as the VMI's status has them: those of the node, by what is behind them. */
export const portsBehind = { control: 0, data: 49152 } as const;
