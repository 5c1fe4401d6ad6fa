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
  /** Socket of the target's launcher, through the proxy. */
  readonly peer: string;
  /** Socket on which this launcher answers how it decided. */
  readonly serve: string;
}

/** Makes a launcher the target of a migration. */
export interface ReceiveRequest {
  readonly migration: MigrationIdentity;
  /** The incarnation that the handover names: this launcher's. */
  readonly holder: Holder;
  /** UUID of the incoming domain. */
  readonly domain: string;
  /**
   * What this launcher would start itself: everything about the guest that only the host sees is
   * taken from it.
   */
  readonly guest: WantedGuest;
  /** Where QEMU listens, such as `unix:///path`. */
  readonly listen: string;
  /** Whether QEMU must receive encrypted data, or must not. Absent: whichever the source sends. */
  readonly encrypted?: boolean;
  /** Where QEMU listens for the content of disks; absent if none is copied. */
  readonly listenDisks?: string;
  /** Sizes that the guest sees, by volume, of volumes that are copied to possibly larger ones. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** Socket of the source's launcher, through the proxy. */
  readonly peer: string;
  /** Socket on which the source's launcher is answered. */
  readonly serve: string;
}

/** The progress of a migration, as one side sees it. */
export interface MigrationReport {
  readonly migrationUID: string;
  readonly role: "source" | "target";
  /** Grows with every change. */
  readonly revision: number;
  /** The last step, such as `perform.before`. */
  readonly step: string;
  /** When each step was first reached, in ms since 1970 by this launcher's host. */
  readonly times?: Readonly<Record<string, number>>;
  /**
   * How long the guest was paused at the source, in ms, as measured by its QEMU: until it had sent
   * everything.
   */
  readonly stoodStillMs?: number;
  /** How far the copy is, as the source measures it. */
  readonly progress?: MigrationProgress;
  /** The decision on the source's disk, which the node agent must swap into the grant. */
  readonly decision?: Outcome;
  /** Whether it waits for a live read of the grant. */
  readonly asksGrant?: boolean;
  /** What a target must present so that its node agent can claim for it. */
  readonly claims?: "released" | "postCopyComplete" | "claimed";
  /**
   * The outcome: `moved`, `stayed` or `broken` at the source, `runs`, `ended` or `lost` at the
   * target.
   */
  readonly outcome?: string;
  /**
   * The fate of this side's copy: `runs`, `paused`, `ended` or `lost`. With it, the migration is
   * over here.
   */
  readonly settled?: string;
  /** Why, if that is not as it should be. */
  readonly why?: string;
}

/** The input for a migration forecast, in bytes. */
export interface GuestMeasure {
  readonly memoryBytes: number;
  /** Memory that was ever written: the rest is zero. */
  readonly usedBytes: number;
  /** Content of the disks that would be copied along. */
  readonly diskBytes: number;
  /** Memory that the guest wrote in a second, each page once; absent if it cannot be measured. */
  readonly dirtyBytesPerSecond?: number;
}

/** What a node agent asks of a launcher in a migration. */
export interface MigrationVerbs {
  /**
   * Starts a migration as its source. Resolves when it has begun; {@link followMigration} reports
   * its progress.
   */
  migrate(request: MigrateRequest, options?: CallOptions): Promise<void>;
  /** Measures a running guest for a forecast; takes so many seconds. */
  measureGuest(
    request: { readonly vmi: MigrationInput["vmi"]; readonly seconds: number },
    options?: CallOptions,
  ): Promise<GuestMeasure>;
  /** Makes this launcher the target. Resolves when it listens. */
  receiveMigration(request: ReceiveRequest, options?: CallOptions): Promise<void>;
  /** Waits for the next report after a revision, so that a loop of calls follows the migration. */
  followMigration(
    request: { readonly migrationUID: string; readonly after?: number },
    options?: CallOptions,
  ): Promise<MigrationReport>;
  /**
   * Decides that the source continues; refused if it is too late. This also applies to a migration
   * that has not begun here: then it never begins.
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
