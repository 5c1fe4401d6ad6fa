import { sleep } from "@virtkit/api/clock";
import { describeError } from "@virtkit/api/observe";
import {
  type ElectionOptions,
  type ElectionSettings,
  electionSettings,
} from "./election-options.ts";
import { Leadership } from "./leadership.ts";
import { LeaseWriter } from "./lease-writer.ts";
import { planCampaign } from "./plan-campaign.ts";

/**
 * Lets one of several processes work: the one that holds a Lease.
 *
 * The work's signal is aborted `margin` before anybody else can take the lease, counted from the moment when the
 * last successful renewal was *sent*. The election does not trust the clocks of other hosts, and does not depend on
 * timers alone: see `Leadership.check`.
 *
 * @example
 * const election = new Election({ client, namespace: "default", name: "my-controller" });
 * await election.lead((leadership) => controller.run({ signal: leadership.signal }), { signal });
 */
export class Election {
  readonly #settings: ElectionSettings;
  readonly #writer: LeaseWriter;
  readonly #lease: string;
  /** From the sending of a renewal to the end of the work. */
  readonly #window: number;

  constructor(options: ElectionOptions) {
    this.#settings = electionSettings(options);
    this.#writer = new LeaseWriter(this.#settings);
    this.#lease = `${options.namespace}/${options.name}`;
    this.#window = this.#settings.leaseDuration - this.#settings.margin;
  }

  get identity(): string {
    return this.#settings.identity;
  }

  /**
   * Waits for the lease, works, and waits again when the lease is lost, until the signal is aborted. After a loss, it
   * first waits until the work has ended. Work that returns or throws while the lease is held ends the election: the
   * lease is released, and the work's result is returned or thrown. Returns `undefined` if the signal came first.
   */
  async lead<R>(
    work: (leadership: Leadership) => Promise<R>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<R | undefined> {
    const { log, metrics } = this.#settings;
    const labels = { lease: this.#lease };
    while (!signal?.aborted) {
      const leadership = await this.#campaign(signal);
      if (!leadership) break;
      log.info({ lease: this.#lease, identity: this.identity }, "leading");
      metrics.observe("kube_leading", 1, labels);
      const outcome = await this.#hold(leadership, work, signal);
      metrics.observe("kube_leading", 0, labels);
      if (outcome.state === "returned") return outcome.value;
      if (outcome.state === "threw") throw outcome.error;
      metrics.count("kube_leases_lost", labels);
    }
    return undefined;
  }

  /** Looks at the lease until it can be taken. */
  async #campaign(signal: AbortSignal | undefined): Promise<Leadership | undefined> {
    const { clock, random, renewEvery, log } = this.#settings;
    while (!signal?.aborted) {
      try {
        const leadership = await this.#try(signal);
        if (leadership) return leadership;
      } catch (error) {
        if (signal?.aborted) break;
        log.warn({ lease: this.#lease, error: describeError(error) }, "could not read the lease");
      }
      // Not all candidates at the same moment: only one of them can succeed.
      await sleep(clock, renewEvery * (0.8 + 0.4 * random.number()), signal);
    }
    return undefined;
  }

  async #try(signal: AbortSignal | undefined): Promise<Leadership | undefined> {
    const { clock, identity, leaseDuration, observations } = this.#settings;
    const lease = await this.#writer.read(signal);
    const unchangedFor = lease ? observations.see(lease) : 0;
    const step = planCampaign(lease, { identity, unchangedFor, leaseDuration });
    if (step.do === "wait") return undefined;
    const sentAt =
      step.do === "renew"
        ? await this.#writer.renew(signal)
        : await this.#writer.take(step.do === "take" ? step : undefined, signal);
    if (!sentAt) return undefined;
    const leadership = new Leadership({
      lease: this.#lease,
      clock,
      now: () => this.#writer.now(),
      window: this.#window,
      since: sentAt,
    });
    // The answer may have taken longer than the lease is good for.
    return leadership.isHeld() ? leadership : undefined;
  }

  async #hold<R>(
    leadership: Leadership,
    work: (leadership: Leadership) => Promise<R>,
    signal: AbortSignal | undefined,
  ): Promise<Outcome<R>> {
    const { clock, margin } = this.#settings;
    let late: unknown;
    const stop = (): void => leadership.askToStop(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    const onStop = (): void => {
      late = clock.setTimeout(() => this.#tellLate(leadership), margin);
    };
    leadership.signal.addEventListener("abort", onStop, { once: true });
    const ended = new AbortController();
    const renewing = this.#renew(leadership, ended.signal);
    const outcome = await this.#outcome(leadership, work, signal);
    signal?.removeEventListener("abort", stop);
    leadership.signal.removeEventListener("abort", onStop);
    clock.clearTimeout(late);
    ended.abort();
    await renewing;
    if (leadership.isHeld()) await this.#release();
    leadership.lose("was given up");
    return outcome;
  }

  async #outcome<R>(
    leadership: Leadership,
    work: (leadership: Leadership) => Promise<R>,
    signal: AbortSignal | undefined,
  ): Promise<Outcome<R>> {
    const { log } = this.#settings;
    try {
      if (signal?.aborted) leadership.askToStop(signal.reason);
      const value = await work(leadership);
      if (leadership.isHeld()) return { state: "returned", value };
    } catch (error) {
      if (leadership.isHeld()) return { state: "threw", error };
      log.warn(
        { lease: this.#lease, error: describeError(error) },
        "the work ended with its lease",
      );
    }
    log.warn({ lease: this.#lease }, "the lease was lost");
    return { state: "lost" };
  }

  /** Nothing can end work that ignores its signal, so it must be reported. */
  #tellLate(leadership: Leadership): void {
    if (leadership.isHeld()) return;
    const { log, metrics } = this.#settings;
    metrics.count("kube_lease_overruns", { lease: this.#lease });
    log.error({ lease: this.#lease }, "the work continues although another holder may be working");
  }

  /** Sends a renewal at each interval, whether or not those before were answered. */
  async #renew(leadership: Leadership, ended: AbortSignal): Promise<void> {
    const { clock, renewEvery } = this.#settings;
    const all = new Set<Promise<void>>();
    const lost = new AbortController();
    const stop = (): void => lost.abort();
    ended.addEventListener("abort", stop, { once: true });
    // More than fit into the window cannot help any more.
    const most = Math.ceil(this.#window / renewEvery);
    while (!ended.aborted && leadership.isHeld()) {
      await sleep(clock, renewEvery, lost.signal);
      if (ended.aborted || !leadership.isHeld() || all.size >= most) continue;
      const renewal = this.#renewOnce(leadership, lost.signal).finally(() => all.delete(renewal));
      all.add(renewal);
    }
    lost.abort();
    await Promise.all(all);
  }

  async #renewOnce(leadership: Leadership, signal: AbortSignal): Promise<void> {
    const { log, metrics } = this.#settings;
    let outcome = "renewed";
    try {
      const sentAt = await this.#writer.renew(signal);
      if (sentAt) leadership.renewed(sentAt);
      else if (!signal.aborted) {
        leadership.lose("is no longer ours");
        outcome = "lost";
      }
    } catch (error) {
      if (signal.aborted) return;
      outcome = "failed";
      log.warn({ lease: this.#lease, error: describeError(error) }, "a renewal failed");
    }
    metrics.count("kube_lease_renewals", { lease: this.#lease, outcome });
  }

  async #release(): Promise<void> {
    const { log } = this.#settings;
    try {
      await this.#writer.release();
    } catch (error) {
      log.warn({ lease: this.#lease, error: describeError(error) }, "the lease was not released");
    }
  }
}

type Outcome<R> =
  | { readonly state: "returned"; readonly value: R }
  | { readonly state: "threw"; readonly error: unknown }
  | { readonly state: "lost" };
