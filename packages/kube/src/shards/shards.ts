import { sleep } from "@virtkit/api/clock";
import { describeError } from "@virtkit/api/observe";
import type { RequestOptions } from "../client/kube-client.ts";
import { isConflict, isNotFound, KubeError } from "../client/kube-error.ts";
import { Election } from "../election/election.ts";
import {
  type ElectionOptions,
  type ElectionSettings,
  electionSettings,
} from "../election/election-options.ts";
import type { Leadership } from "../election/leadership.ts";
import { type Lease, leases, microTime } from "../election/lease.ts";
import { deterministicName } from "../writes/deterministic-name.ts";
import { planShards } from "./plan-shards.ts";

/** The label by which members and shards of one set of leases are found. */
const setLabel = "virtkit.io/shards";
/** The label of leases that say that a member is alive. */
const memberLabel = "virtkit.io/shard-member";
/** After so many times its duration the lease of a member that died is removed. */
const forgetAfter = 10;

/** Options of {@link Shards}. The times are those of each shard's election. */
export interface ShardsOptions extends Omit<ElectionOptions, "observations" | "labels"> {
  /** How many there are; all members must say the same. */
  readonly shards: number;
}

/** Does the work of one shard until the signal of its leadership is aborted. */
export type ShardWork = (shard: number, leadership: Leadership) => Promise<void>;

/**
 * Distributes work over several processes: each shard has a lease, and each process holds its share of the leases.
 * When a process dies, its shards move to the others; a new process gets its share.
 *
 * @example
 * const shards = new Shards({ client, namespace: "default", name: "my-controller", shards: 16 });
 * await shards.run((shard, { signal }) => createShardController(shard).run({ signal }), { signal });
 */
export class Shards {
  readonly #settings: ElectionSettings;
  readonly #shards: number;
  /** Shards that this member works on or competes for. */
  readonly #taken = new Map<
    number,
    { readonly stop: AbortController; readonly ended: Promise<void> }
  >();
  #failure: { readonly error: unknown } | undefined;

  constructor({ shards, ...options }: ShardsOptions) {
    if (!Number.isInteger(shards) || shards < 1) {
      throw new KubeError("KUBE_INPUT_INVALID", `shards is ${shards}; it must be 1 or more`, {
        path: "shards",
      });
    }
    this.#settings = electionSettings({ ...options, labels: { [setLabel]: options.name } });
    this.#shards = shards;
  }

  get identity(): string {
    return this.#settings.identity;
  }

  /** Shards that this member works on or competes for. */
  get taken(): readonly number[] {
    return [...this.#taken.keys()].sort((one, other) => one - other);
  }

  /** Works until the signal; then ends the work, releases its leases and resolves. Work that throws ends it, too. */
  async run(
    work: ShardWork,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const { clock, renewEvery, random, log } = this.#settings;
    const failed = new AbortController();
    const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
    const onFailure = (error: unknown): void => {
      this.#failure ??= { error };
      failed.abort(error);
    };
    while (!stop.aborted) {
      try {
        await this.#look(work, onFailure, stop);
      } catch (error) {
        if (!stop.aborted) log.warn({ error: describeError(error) }, "could not read the shards");
      }
      await sleep(clock, renewEvery * (0.8 + 0.4 * random.number()), stop);
    }
    for (const { stop: end } of this.#taken.values()) end.abort(stop.reason);
    await Promise.all([...this.#taken.values()].map(({ ended }) => ended));
    await this.#leave();
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.error;
  }

  /** One look at all leases, and what follows from it. */
  async #look(
    work: ShardWork,
    onFailure: (error: unknown) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, namespace, name, leaseDuration, identity } = this.#settings;
    const options = { signal, timeout: leaseDuration };
    await this.#announce(options);
    const labelSelector = `${setLabel}=${name}`;
    const { items } = await client.list(leases, { namespace, labelSelector, ...options });
    const { members, held, dead } = this.#understand(items);
    const all = Array.from({ length: this.#shards }, (_, shard) => shard);
    const holderOf = (shard: number): string | undefined => held.get(this.#shardLease(shard));
    const others = this.taken.filter((shard) => (holderOf(shard) ?? identity) !== identity);
    const mine = this.taken.filter((shard) => !others.includes(shard));
    const free = all.filter((shard) => holderOf(shard) === undefined);
    const view = { shards: this.#shards, identity, members, held: mine, free };
    const { take, release } = planShards(view);
    // Somebody else was faster, or has it in the meantime.
    for (const shard of [...release, ...others]) this.#taken.get(shard)?.stop.abort();
    for (const shard of take) if (!this.#taken.has(shard)) this.#take(shard, work, onFailure);
    await Promise.all(dead.map((lease) => this.#bury(lease, options)));
  }

  /** Who is alive, who holds what, and which leases nobody will ever renew. */
  #understand(items: readonly Lease[]): {
    readonly members: readonly string[];
    readonly held: ReadonlyMap<string, string>;
    readonly dead: readonly Lease[];
  } {
    const { observations, leaseDuration } = this.#settings;
    const held = new Map<string, string>();
    const members: string[] = [];
    const dead: Lease[] = [];
    for (const lease of items) {
      const unchangedFor = observations.see(lease);
      const { holderIdentity = "", leaseDurationSeconds } = lease.spec ?? {};
      const promised = (leaseDurationSeconds ?? leaseDuration / 1_000) * 1_000;
      const isMember = lease.metadata.labels?.[memberLabel] === "true";
      const isHeld = holderIdentity !== "" && unchangedFor < promised;
      if (isHeld && isMember) members.push(holderIdentity);
      else if (isHeld) held.set(lease.metadata.name ?? "", holderIdentity);
      else if (isMember && unchangedFor > promised * forgetAfter) dead.push(lease);
    }
    const there = new Set(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
    observations.keep((key) => there.has(key));
    return { members, held, dead };
  }

  /** Removes the lease of a member that died, unless it has come back in the meantime. */
  async #bury({ metadata }: Lease, options: RequestOptions): Promise<void> {
    const { namespace = "", name = "", uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    try {
      await this.#settings.client.delete(
        leases,
        { namespace, name },
        { preconditions, ...options },
      );
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  #take(shard: number, work: ShardWork, onFailure: (error: unknown) => void): void {
    const stop = new AbortController();
    const election = new Election({ ...this.#settings, name: this.#shardLease(shard) });
    const ended = election
      .lead((leadership) => work(shard, leadership), { signal: stop.signal })
      .then(() => {}, onFailure)
      .finally(() => this.#taken.delete(shard));
    this.#taken.set(shard, { stop, ended });
  }

  /** Says that this member is alive. */
  async #announce(options: RequestOptions): Promise<void> {
    const { client, namespace, identity, labels, leaseDuration, wall } = this.#settings;
    const name = this.#memberLease();
    const renewTime = microTime(wall());
    const operations = [{ op: "replace", path: "/spec/renewTime", value: renewTime }] as const;
    try {
      await client.patch(leases, { namespace, name }, { type: "json", operations }, options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const leaseDurationSeconds = leaseDuration / 1_000;
      const spec = {
        holderIdentity: identity,
        leaseDurationSeconds,
        acquireTime: renewTime,
        renewTime,
      };
      const metadata = { namespace, name, labels: { ...labels, [memberLabel]: "true" } };
      await client.create(leases, { metadata, spec }, options);
    }
  }

  /** Takes this member off the list, so that others need not wait for its lease to expire. */
  async #leave(): Promise<void> {
    const { client, namespace, log, leaseDuration: timeout } = this.#settings;
    try {
      await client.delete(leases, { namespace, name: this.#memberLease() }, { timeout });
    } catch (error) {
      if (!isNotFound(error))
        log.warn({ error: describeError(error) }, "could not leave the members");
    }
  }

  #shardLease(shard: number): string {
    return `${this.#settings.name}-${shard}-of-${this.#shards}`;
  }

  #memberLease(): string {
    const { name, identity } = this.#settings;
    return deterministicName(`${name}-member`, identity);
  }
}
