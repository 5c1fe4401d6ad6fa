import type { Decision, Holder, Outcome, ProofOfEnd } from "@virtkit/api/grant";
import type { MayRun, WantedGuest } from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { MigrationInput, MigrationProgress } from "@virtkit/migration/source";

/** Starts a migration at its source. Paths are those that the launcher sees. */
export interface MigrateRequest {
  readonly migration: MigrationIdentity;
  /** The incarnation that holds the grant: this launcher's. */
  readonly holder: Holder;
  /** The VMI with its `status.migrationState`, and what this migration may do. */
  readonly vmi: MigrationInput["vmi"];
  readonly options: MigrationInput["options"];
  /** QEMU encrypts the data; the target's certificate must have this name. */
  readonly tls?: { readonly destination: string };
  /** Where QEMU sends to. Default: the sockets of the migration proxy in this launcher. */
  readonly uris?: { readonly memory: string; readonly disks: string };
  /** Socket of the target's launcher, by way of the proxy. */
  readonly peer: string;
  /** Socket on which this launcher answers how it decided. */
  readonly serve: string;
}

/** Makes a launcher the target of a migration. */
export interface ReceiveRequest {
  readonly migration: MigrationIdentity;
  /** The incarnation that the handover names: this launcher's. */
  readonly holder: Holder;
  /** UUID of the domain that comes. */
  readonly domain: string;
  /** What this launcher would start itself: all that only the host sees of the guest is taken from it. */
  readonly guest: WantedGuest;
  /** Where QEMU listens, as `unix:///path`. */
  readonly listen: string;
  /** Whether QEMU must receive encrypted data, or must not. Absent: whichever the source sends. */
  readonly encrypted?: boolean;
  /** Where QEMU listens for the content of disks; absent where none is copied. */
  readonly listenDisks?: string;
  /** Bytes that the guest sees of volumes that are copied to others, which may be larger; by volume. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** Socket of the source's launcher, by way of the proxy. */
  readonly peer: string;
  /** Socket on which the source's launcher is answered. */
  readonly serve: string;
}

/** Where a migration stands, as one side sees it. */
export interface MigrationReport {
  readonly migrationUID: string;
  readonly role: "source" | "target";
  /** Grows with every change. */
  readonly revision: number;
  /** The last step, as `perform.before`. */
  readonly step: string;
  /** When each step was first reached, in ms since 1970 by this launcher's host. */
  readonly times?: Readonly<Record<string, number>>;
  /** How long the guest stood still at the source, in ms, as its QEMU measured it: until it had sent everything. */
  readonly stoodStillMs?: number;
  /** How far the copy is, as the source measures it. */
  readonly progress?: MigrationProgress;
  /** What is on the source's disk, and what the node agent is to swap into the grant. */
  readonly decision?: Outcome;
  /** Whether a live read of the grant is waited for. */
  readonly asksGrant?: boolean;
  /** What a target has to show for a claim that its node agent is to make. */
  readonly claims?: "released" | "postCopyComplete" | "claimed";
  /** How it went: `moved`, `stayed` or `broken` at the source, `runs`, `ended` or `lost` at the target. */
  readonly outcome?: string;
  /** What became of this side's copy: `runs`, `paused`, `ended` or `lost`. With it the migration is over here. */
  readonly settled?: string;
  /** Why, where that is not as it should be. */
  readonly why?: string;
}

/** What a forecast of a migration goes by, in bytes. */
export interface GuestMeasure {
  readonly memoryBytes: number;
  /** Memory that was ever written: the rest is zero. */
  readonly usedBytes: number;
  /** Content of the disks that would be copied along. */
  readonly diskBytes: number;
  /** Memory that the guest wrote in a second, each page once; absent where it cannot be measured. */
  readonly dirtyBytesPerSecond?: number;
}

/** What a node agent asks of a launcher that takes part in a migration. */
export interface MigrationVerbs {
  /** Starts a migration as its source. Resolves when it has begun; {@link followMigration} says how it goes. */
  migrate(request: MigrateRequest, options?: CallOptions): Promise<void>;
  /** Measures a running guest for a forecast; takes so many seconds. */
  measureGuest(
    request: { readonly vmi: MigrationInput["vmi"]; readonly seconds: number },
    options?: CallOptions,
  ): Promise<GuestMeasure>;
  /** Makes this launcher the target. Resolves when it listens. */
  receiveMigration(request: ReceiveRequest, options?: CallOptions): Promise<void>;
  /** The next report after a revision: waits for it, so that a loop of calls follows the migration. */
  followMigration(
    request: { readonly migrationUID: string; readonly after?: number },
    options?: CallOptions,
  ): Promise<MigrationReport>;
  /**
   * Decides that the source goes on; refused where it is too late. Of a migration that has not begun here it is
   * decided, too: then it never begins.
   */
  cancelMigration(
    request: { readonly migrationUID: string; readonly reason?: string },
    options?: CallOptions,
  ): Promise<void>;
  /** Commits to post-copy, and switches once the grant says so. */
  switchToPostCopy(
    request: { readonly migrationUID: string },
    options?: CallOptions,
  ): Promise<void>;
  /** A release that the target's node agent read in the grant. */
  releaseMigration(
    request: { readonly migration: MigrationIdentity },
    options?: CallOptions,
  ): Promise<void>;
  /** How the source decided, from its disk. */
  migrationDecision(
    request: { readonly migration: MigrationIdentity },
    options?: CallOptions,
  ): Promise<Partial<Decision>>;
  /**
   * The grant as the node agent has just read or swapped it, in the annotation's form, with what proves that the other side
   * has ended. A launcher of an earlier release takes no proofs, and waits.
   */
  noteGrant(
    request: {
      readonly migrationUID: string;
      readonly grant: string;
      readonly proofs?: readonly ProofOfEnd[];
    },
    options?: CallOptions,
  ): Promise<void>;
  /** The claim that the node agent has made for a target. */
  noteClaim(
    request: { readonly migrationUID: string; readonly mayRun: MayRun },
    options?: CallOptions,
  ): Promise<void>;
}
