import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import type { Names } from "@virtkit/api/names";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { KubeClient } from "@virtkit/kube";
import {
  type Credentials,
  type Identity,
  nodeAgentIdentity,
  type RenewedCredentials,
  vsockIdentity,
} from "@virtkit/pki";
import { requestCertificate } from "../certificates/request-certificate.ts";
import { type VsockDialerOptions, vsockDialer } from "../guest-server/dial-vsock.ts";
import { type GuestServer, startGuestServer } from "../guest-server/guest-server.ts";
import type { NodeAgent } from "./create-node-agent.ts";
import { RequestEvents } from "./request-events.ts";
import { servedGuests } from "./served-guests.ts";

/** Options of {@link serveGuests}. */
export interface ServeGuestsOptions extends Observers {
  readonly client: KubeClient;
  /** Where the platform is installed. */
  readonly namespace: string;
  readonly nodeName: string;
  readonly agent: Pick<NodeAgent, "guest">;
  readonly names?: Names;
  /** Default: the port that API servers call. */
  readonly port?: number;
  /** Milliseconds between looks at the certificate. Default 20 minutes. */
  readonly renewalInterval?: number;
  /** A certificate that was obtained before is replaced at the next look. */
  readonly renewSince?: () => Date | undefined;
  /** Milliseconds to the next attempt after one has failed. Default 5,000. */
  readonly retryInterval?: number;
  /** How guests are dialled over VSOCK. Default: by the node's kernel. */
  readonly vsock?: Pick<VsockDialerOptions, "connect" | "vhost">;
  readonly clock?: Clock;
}

/** The guests of a node, served or about to be. Disposal ends it. */
export interface GuestService extends AsyncDisposable {
  /** The port, once there is a certificate and the server listens. */
  readonly port: number | undefined;
  /** Why guests are not served yet; empty once they are. Guests run without it. */
  readonly problems: readonly string[];
  /** Looks at the certificate now, and not only when it is time to. */
  renew(): Promise<void>;
}

/**
 * Serves an agent's guests to the API server as soon as this node has a certificate. Requests one until it is issued,
 * because the API server may be installed after the node agents. The certificate is renewed while streams stay open. What
 * requests do to a guest is recorded as events of its VMI.
 */
export function serveGuests(options: ServeGuestsOptions): GuestService {
  return new CertifiedGuestService(options);
}

class CertifiedGuestService implements GuestService {
  readonly #options: ServeGuestsOptions;
  readonly #ending = new AbortController();
  readonly #events: RequestEvents;
  readonly #starting: Promise<void>;
  #credentials: RenewedCredentials | undefined;
  /** What guests are shown over VSOCK. */
  #shown: Promise<RenewedCredentials> | undefined;
  #server: GuestServer | undefined;
  #problem = "this node has no certificate yet";

  constructor(options: ServeGuestsOptions) {
    this.#options = options;
    const { client, nodeName, names, clock, log, metrics } = options;
    this.#events = new RequestEvents({
      ...{ client, nodeName },
      ...(names && { names }),
      ...(clock && { clock }),
      ...(log && { log }),
      ...(metrics && { metrics }),
    });
    this.#starting = this.#start();
  }

  get port(): number | undefined {
    return this.#server?.port;
  }

  get problems(): readonly string[] {
    return this.#server ? [] : [this.#problem];
  }

  async renew(): Promise<void> {
    await this.#credentials?.renew();
    // A failed request was reported to the guest server that made it.
    const shown = await this.#shown?.catch(() => undefined);
    await shown?.renew();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#starting;
    this.#credentials?.close();
    // A failed request was reported to the guest server that made it.
    const shown = await this.#shown?.catch(() => undefined);
    shown?.close();
    await this.#server?.[Symbol.asyncDispose]();
    await this.#events[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    const { clock = realClock, retryInterval = 5_000, log } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#attempt(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#problem = describeError(error);
        log?.warn({ error: this.#problem }, "guests are not served yet");
      }
      // The signal ends the wait; the loop sees it.
      await sleep(clock, retryInterval, signal).catch(() => undefined);
    }
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    const { nodeName, agent, port, log, metrics, vsock } = this.#options;
    const observers = { ...(log && { log }), ...(metrics && { metrics }) };
    this.#credentials ??= await this.#request(nodeAgentIdentity(nodeName), signal);
    this.#server = await startGuestServer({
      ...{ nodeName, credentials: this.#credentials, findGuest: servedGuests(agent), ...observers },
      ...(port === undefined ? {} : { port }),
      dialVsock: vsockDialer({ ...vsock, credentials: () => this.#shownToGuests() }),
      recordEvent: this.#events.record,
    });
    log?.info({ port: this.#server.port }, "guests are served to the API server");
  }

  /** Asked for when the first guest is to be dialled with TLS: most nodes never need it. */
  async #shownToGuests(): Promise<Credentials> {
    this.#shown ??= this.#request(vsockIdentity(this.#options.nodeName), this.#ending.signal, {
      timeout: 10_000,
    });
    try {
      return (await this.#shown).current;
    } catch (error) {
      this.#shown = undefined;
      throw error;
    }
  }

  async #request(
    identity: Identity,
    signal: AbortSignal,
    bounds: { readonly timeout?: number } = {},
  ): Promise<RenewedCredentials> {
    const { client, namespace, names, clock, log, metrics } = this.#options;
    const { renewalInterval: interval, renewSince } = this.#options;
    return await requestCertificate({
      ...{ client, namespace, identity, signal, ...bounds },
      ...(log && { log }),
      ...(metrics && { metrics }),
      ...(names && { names }),
      ...(clock && { clock }),
      ...(renewSince && { renewSince }),
      ...(interval === undefined ? {} : { interval }),
    });
  }
}
