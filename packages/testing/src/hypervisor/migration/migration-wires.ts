import { type Clock, sleep } from "@virtkit/api/clock";
import type { DecisionRecord } from "@virtkit/api/grant";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { GuestMemory } from "../simulated-domain.ts";
import { migrationFailure } from "./launcher-failure.ts";

/** What a target's copy is, as `@virtkit/migration` names it. */
export type CopyKind = "absent" | "paused" | "incomplete" | "whole";

/** A target as its source sees it. */
export interface WiredTarget {
  readonly node: string;
  prepare(migration: MigrationIdentity, paused: boolean): Promise<void>;
  finish(
    migration: MigrationIdentity,
    memory: GuestMemory,
    how: "paused" | "postCopy",
  ): Promise<void>;
  release(migration: MigrationIdentity): Promise<void>;
  abort(migration: MigrationIdentity): Promise<void>;
  /** The last page has come, in post-copy. */
  complete(): void;
  /** The stream broke, in post-copy. */
  breaks(): void;
  /** Goes on with a post-copy whose stream broke, over a new one; answers when the last page has come. */
  recover(migration: MigrationIdentity): Promise<void>;
}

/** A source as its target sees it. */
export interface WiredSource {
  readonly node: string;
  decision(migration: MigrationIdentity): Promise<DecisionRecord | undefined>;
}

/** A message between two launchers. */
export type WireMessage = Exclude<keyof WiredTarget, "node" | "complete" | "breaks"> | "decision";

/** Options of {@link MigrationWires}. */
export interface MigrationWiresOptions {
  readonly clock: Clock;
  /** Bytes per second that pass between two nodes. By default 1 GiB. */
  readonly bandwidth?: number;
  /** Whether two nodes cannot reach each other. By default they can. */
  readonly isCut?: (one: string, other: string) => boolean;
}

/** Milliseconds for which a launcher waits for a reply from the other one. */
const patience = 10_000;
const way = 1;

/** Connects launchers that move guests between them: carries their messages and memory. */
export class MigrationWires {
  /** Bytes per second that pass between two nodes. */
  bandwidth: number;
  readonly #clock: Clock;
  readonly #isCut: (one: string, other: string) => boolean;
  readonly #targets = new Map<string, WiredTarget>();
  readonly #sources = new Map<string, WiredSource>();
  readonly #lost: WireMessage[] = [];
  #breaks = 0;
  #isBlocked = false;
  #down = false;

  constructor({ clock, bandwidth = 2 ** 30, isCut = () => false }: MigrationWiresOptions) {
    this.#clock = clock;
    this.bandwidth = bandwidth;
    this.#isCut = isCut;
  }

  /** Breaks the connections that carry memory; new ones can be made. */
  breakStreams(): void {
    this.#breaks++;
  }

  /** Breaks them and refuses new ones, or allows new ones again. */
  blockStreams(isBlocked: boolean): void {
    this.#isBlocked = isBlocked;
    if (isBlocked) this.breakStreams();
  }

  /** Nothing passes any more, neither messages nor memory, until the connection is restored. */
  cut(): void {
    this.#down = true;
  }

  mend(): void {
    this.#down = false;
  }

  /** The next such message takes effect, and its answer never comes. */
  loseReply(message: WireMessage): void {
    this.#lost.push(message);
  }

  /** @internal How often streams were broken. */
  get breaks(): number {
    return this.#breaks;
  }

  /** @internal Whether a connection that carries memory can be made from a source to its target. */
  canStream(from: string, migrationUID: string): boolean {
    const to = this.#targets.get(migrationUID)?.node;
    if (to === undefined || this.#isBlocked) return false;
    return !this.#down && !this.#isCut(from, to);
  }

  /** @internal */
  listen(migrationUID: string, target: WiredTarget): void {
    this.#targets.set(migrationUID, target);
  }

  /** @internal */
  answer(migrationUID: string, source: WiredSource): void {
    this.#sources.set(migrationUID, source);
  }

  /** @internal Bytes per second that pass now between a source and its target. */
  rate(from: string, migrationUID: string, limit: number): number {
    const to = this.#targets.get(migrationUID)?.node ?? "";
    if (this.#down || this.#isCut(from, to)) return 0;
    return limit > 0 ? Math.min(limit, this.bandwidth) : this.bandwidth;
  }

  /** @internal What a source says to its target outside of messages: the stream itself. */
  stream(migrationUID: string): WiredTarget | undefined {
    return this.#targets.get(migrationUID);
  }

  /** @internal A message from the source to the target. Rejects if no answer comes in time. */
  async toTarget<T>(
    message: WireMessage,
    from: string,
    { migrationUID }: MigrationIdentity,
    act: (target: WiredTarget) => Promise<T>,
  ): Promise<T> {
    return await this.#pass(message, from, this.#targets.get(migrationUID), act);
  }

  /** @internal A message from the target to the source. */
  async toSource<T>(
    message: WireMessage,
    from: string,
    { migrationUID }: MigrationIdentity,
    act: (source: WiredSource) => Promise<T>,
  ): Promise<T> {
    return await this.#pass(message, from, this.#sources.get(migrationUID), act);
  }

  async #pass<Peer extends { readonly node: string }, T>(
    message: WireMessage,
    from: string,
    peer: Peer | undefined,
    act: (peer: Peer) => Promise<T>,
  ): Promise<T> {
    await sleep(this.#clock, way);
    if (!peer) throw migrationFailure("MIGRATION_PEER", `nobody listens for ${message}`, message);
    if (this.#down || this.#isCut(from, peer.node)) return await this.#silence(message);
    const answer = await act(peer);
    await sleep(this.#clock, way);
    const lost = this.#lost.indexOf(message);
    if (lost >= 0) this.#lost.splice(lost, 1);
    const isSilent = lost >= 0 || this.#down || this.#isCut(from, peer.node);
    return isSilent ? await this.#silence(message) : answer;
  }

  async #silence(message: WireMessage): Promise<never> {
    await sleep(this.#clock, patience);
    const text = `no answer to ${message} in ${patience} ms`;
    throw migrationFailure("MIGRATION_PHASE_FAILED", text, message);
  }
}
