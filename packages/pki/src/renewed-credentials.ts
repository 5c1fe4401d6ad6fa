import type { Server } from "node:tls";
import { type Clock, every, realClock } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { Credentials } from "./credentials.ts";
import { serverTlsOptions } from "./tls-options.ts";

/** Options for keeping credentials fresh. */
export interface RenewalOptions extends Observers {
  /** Returns new ones: `await authority.refresh(); return await authority.issue(identity)`. */
  readonly obtain: () => Promise<Credentials>;
  /** Milliseconds. Default 20 minutes: a third of the announcement of a new authority. */
  readonly interval?: number;
  readonly clock?: Clock;
}

/**
 * Credentials that are renewed in the background. If that fails, the old ones stay, which are valid for many
 * more attempts. Renewing does not affect open connections.
 */
export class RenewedCredentials implements Disposable {
  #current: Credentials;
  readonly #options: RenewalOptions;
  readonly #servers: Set<Server> = new Set();
  readonly #stop: () => void;
  #renewing: Promise<void> | undefined;

  private constructor(first: Credentials, options: RenewalOptions) {
    const { clock = realClock, interval = 20 * 60_000 } = options;
    this.#current = first;
    this.#options = options;
    this.#stop = every(clock, interval, () => void this.renew());
  }

  /** Obtains the first ones. Fails if that fails. */
  static async start(options: RenewalOptions): Promise<RenewedCredentials> {
    return new RenewedCredentials(await options.obtain(), options);
  }

  /** The newest ones; a client reads them for each connection. */
  get current(): Credentials {
    return this.#current;
  }

  /** Makes a server use the newest ones for every new connection, until it is closed. */
  serve(server: Server): void {
    server.setSecureContext(serverTlsOptions(this.#current));
    this.#servers.add(server);
    server.once("close", () => this.#servers.delete(server));
  }

  /** Renews them now, or waits for a renewal in progress. Never fails: failures are logged. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Stops renewing. */
  close(): void {
    this.#stop();
    this.#servers.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #renew(): Promise<void> {
    const { obtain, log, metrics } = this.#options;
    try {
      const fresh = await obtain();
      for (const server of this.#servers) server.setSecureContext(serverTlsOptions(fresh));
      this.#current = fresh;
      metrics?.count("pki_renewals", { outcome: "renewed" });
    } catch (error) {
      metrics?.count("pki_renewals", { outcome: "failed" });
      log?.warn({ error: describeError(error) }, "the certificate could not be renewed");
    }
  }
}
