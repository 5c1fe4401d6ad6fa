import { isAlreadyExists, isConflict, isKubeError, isNotFound } from "../client/kube-error.ts";
import type { ElectionSettings } from "./election-options.ts";
import type { Instant } from "./leadership.ts";
import { type Lease, leases, microTime } from "./lease.ts";

/** The requests of an election. All of them are conditional: none takes a lease from a holder that has renewed it. */
export class LeaseWriter {
  readonly #settings: ElectionSettings;
  /** What is answered later than this is of no use any more. */
  readonly #timeout: number;

  constructor(settings: ElectionSettings) {
    this.#settings = settings;
    this.#timeout = settings.leaseDuration - settings.margin;
  }

  /** A moment by both clocks of this host. */
  now(): Instant {
    return { monotonic: this.#settings.clock.now(), wall: this.#settings.wall().getTime() };
  }

  /** As it is now; `undefined` if there is none. */
  async read(signal: AbortSignal | undefined): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#settings;
    try {
      return await client.get(leases, { namespace, name }, { signal, timeout: this.#timeout });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Creates the lease, or takes over this version of it. Returns when it was sent; `undefined` if others were
   * faster.
   */
  async take(
    known: { readonly lease: Lease; readonly transitions: number } | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Instant | undefined> {
    const { client, namespace, name, identity, labels, leaseDuration } = this.#settings;
    const time = microTime(this.#settings.wall());
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: leaseDuration / 1_000,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: known?.transitions ?? 0,
    };
    const sentAt = this.now();
    try {
      const options = { signal, timeout: this.#timeout };
      if (known) await client.update(leases, { ...known.lease, spec }, options);
      else await client.create(leases, { metadata: { namespace, name, labels }, spec }, options);
      return sentAt;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return undefined;
      // Somebody has removed the lease; if there was none to take, the namespace is missing.
      if (known && isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Renews the lease if we hold it. It depends on no version, so that several renewals may be on their way at once: a
   * server that takes seconds for each answer does not cost the lease. Returns when it was sent; `undefined` if the
   * server says that the lease is not ours.
   */
  async renew(signal: AbortSignal | undefined): Promise<Instant | undefined> {
    const sentAt = this.now();
    const renewTime = microTime(this.#settings.wall());
    const isOurs = await this.#change({ renewTime }, signal);
    return isOurs ? sentAt : undefined;
  }

  /** Gives the lease up, so that others need not wait. */
  async release(): Promise<void> {
    await this.#change({ holderIdentity: "", leaseDurationSeconds: 1 }, undefined);
  }

  async #change(
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { client, namespace, name, identity } = this.#settings;
    const operations = [
      { op: "test" as const, path: "/spec/holderIdentity", value: identity },
      ...Object.entries(fields).map(([field, value]) => ({
        op: "replace" as const,
        path: `/spec/${field}`,
        value,
      })),
    ];
    try {
      await client.patch(
        leases,
        { namespace, name },
        { type: "json", operations },
        { signal, timeout: this.#timeout },
      );
      return true;
    } catch (error) {
      // 422 is a test that failed, and what any other trouble with the patch looks like: the lease itself decides.
      if (isNotFound(error)) return false;
      if (!isKubeError(error) || error.status !== 422) throw error;
      const lease = await this.read(signal);
      if (lease?.spec?.holderIdentity === identity) throw error;
      return false;
    }
  }
}
