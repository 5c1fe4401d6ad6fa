import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ConverterContext } from "@virtkit/converter";
import type { PodFacts } from "@virtkit/converter/launcher";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { DomainStatus } from "../status/domain-status.ts";
import type { GuestEvent } from "../status/guest-event.ts";
import type { MayRun } from "./may-run.ts";

/** The input of {@link GuestControl.syncVmi}. Plain JSON except for the proof. */
export interface SyncRequest {
  /**
   * With its defaults and with images on its claims, as returned by `prepareVmi` of the converter.
   */
  readonly vmi: VirtualMachineInstance;
  /** As returned by `resolveContext` of the converter. */
  readonly context: ConverterContext;
  /** What the node agent knows about the Pod: links, paths without direct I/O. */
  readonly pod?: PodFacts;
  /**
   * Whether the Pod was created for what the VMI wants now: its CPUs, memory and network functions.
   * Changes of these are then applied at once; otherwise they are listed as waiting for a
   * migration. Default false.
   */
  readonly podFits?: boolean;
  readonly mayRun: MayRun;
}

/** The result of a program in the guest. */
export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A picture of the guest's screen. */
export interface Screenshot {
  readonly mime: string;
  readonly data: Uint8Array;
}

/** A user who is logged in. */
export interface GuestUser {
  readonly userName: string;
  readonly domain?: string;
  /** Seconds since 1970. */
  readonly loginTime: number;
}

/** A file system that is mounted in the guest. */
export interface GuestFileSystem {
  readonly diskName: string;
  readonly mountPoint: string;
  readonly fileSystemType: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
  readonly disks: readonly { readonly serial?: string; readonly busType: string }[];
}

/** Counters of a domain by libvirt's names, such as `cpu.time` or `net.0.rx.bytes`. */
export type DomainStats = Readonly<Record<string, number | string | boolean>>;

/**
 * The verbs of one guest. The domain manager carries them out; a launcher's client forwards them,
 * so code that controls guests runs against either. Every call ends: with its result, with an
 * error, or by the `timeout` of its options (each verb has a default).
 */
export interface GuestControl {
  /**
   * Brings the domain into the state that the VMI wants: prepares disks, defines and starts it, or
   * changes the running one. Repeating it changes nothing. A guest that a user paused stays paused;
   * one that has ended is not started again.
   */
  syncVmi(request: SyncRequest, options?: CallOptions): Promise<DomainStatus>;
  pause(options?: CallOptions): Promise<void>;
  unpause(mayRun: MayRun, options?: CallOptions): Promise<void>;
  /** Asks the guest to shut down, by its agent or its power button; does not wait for it. */
  shutdown(options?: CallOptions): Promise<void>;
  /** Ends the guest at once. A guest that has ended is left alone. */
  kill(options?: CallOptions): Promise<void>;
  /** Removes what libvirt knows about an ended guest; its firmware variables stay. */
  delete(options?: CallOptions): Promise<void>;
  softReboot(options?: CallOptions): Promise<void>;
  reset(options?: CallOptions): Promise<void>;
  /**
   * Stops writes to the guest's file systems; after `unfreezeAfterSeconds` they continue
   * automatically.
   */
  freeze(request: { readonly unfreezeAfterSeconds: number }, options?: CallOptions): Promise<void>;
  unfreeze(options?: CallOptions): Promise<void>;
  exec(
    request: {
      readonly command: string;
      readonly args?: readonly string[];
      readonly timeoutSeconds?: number;
    },
    options?: CallOptions,
  ): Promise<ExecResult>;
  /** Rejects if the guest agent does not answer in time. */
  guestPing(request: { readonly timeoutSeconds: number }, options?: CallOptions): Promise<void>;
  users(options?: CallOptions): Promise<readonly GuestUser[]>;
  fileSystems(options?: CallOptions): Promise<readonly GuestFileSystem[]>;
  stats(options?: CallOptions): Promise<DomainStats>;
  screenshot(options?: CallOptions): Promise<Screenshot>;
  /** Writes the guest's memory to a file of the launcher. */
  memoryDump(request: { readonly path: string }, options?: CallOptions): Promise<void>;
  /** What is known now, including the guest's system. */
  status(options?: CallOptions): Promise<DomainStatus>;
  /** Future events; begins with the status. Ends when the iterator is returned. */
  events(options?: { readonly signal?: AbortSignal }): AsyncIterable<GuestEvent>;
}
