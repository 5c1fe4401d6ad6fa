import type { Observers } from "@virtkit/api/observe";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { Encryption } from "@virtkit/migration/policy";
import type { Credentials } from "@virtkit/pki";
import type { Listener } from "./listener.ts";

/** What both ends of the connection between two launchers are made with. */
export interface WayOptions extends Observers {
  readonly migrationUID: string;
  /** For this side of this migration. */
  readonly credentials: Credentials;
  /** Who encrypts memory and disks; QEMU uses the same credentials. */
  readonly encryption: Encryption;
  readonly signal?: AbortSignal;
}

/** How to reach the target. */
export interface WayOutOptions extends WayOptions {
  readonly target: Listener;
}

/** Where the target listens. */
export interface WayInOptions extends WayOptions {
  /** The numeric address, on a network that the nodes use for migrations. */
  readonly address: string;
}

/** Sockets of one side, as its launcher sees them. */
export interface WaySockets {
  /** Where to reach the other launcher. */
  readonly peer: string;
  /** Where this launcher answers the other one. */
  readonly serve: string;
  /** Where QEMU listens, or sends to. */
  readonly memory: string;
  readonly disks: string;
}

/** One end of the connection between two launchers; its streams end with it. */
export interface MigrationWay extends AsyncDisposable {
  readonly sockets: WaySockets;
}

/** The target's end. */
export interface WayIn extends MigrationWay {
  readonly listener: Listener;
}

/** The source's end. */
export interface WayOut extends MigrationWay {
  /** Where it leads. */
  readonly target: Listener;
  /** Whether the target's launcher answers for exactly this handover. Rejects if it belongs to another. */
  isReady(
    migration: MigrationIdentity,
    options: { readonly signal: AbortSignal },
  ): Promise<boolean>;
}

/** A target's ports in the VMI's status: the node's ports, by what is behind them. */
export const portsBehind = { control: 0, data: 49152 } as const;
