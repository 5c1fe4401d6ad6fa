import { constants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { ServiceAccounts } from "@virtkit/api/admission";
import { type Clock, every, realClock, wallTime } from "@virtkit/api/clock";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { KubeClient } from "@virtkit/kube";
import { type Credentials, RenewedCredentials } from "@virtkit/pki";
import { followFrontProxy } from "./access/follow-front-proxy.ts";
import type { FrontProxy } from "./access/front-proxy.ts";
import { AggregatedApi, type ServerVersion } from "./aggregated/aggregated-api.ts";
import { agentPodAddress, type NodeAgentAddress } from "./aggregated/cluster-lookup.ts";
import type { StreamLimits } from "./aggregated/stream-limits.ts";
import { isApiServerError } from "./api-server-error.ts";
import { type BundledObjects, bundledObjects, keepBundles } from "./certificates/ca-bundles.ts";
import { sendJson, sendText } from "./http/answer.ts";
import { readBody } from "./http/read-body.ts";
import { TimeBudget } from "./http/time-budget.ts";
import { answerAdmissionReview } from "./webhooks/answer-review.ts";
import { type WebhookMode, webhookAt } from "./webhooks/webhook-paths.ts";

/** The options of an API server. Only the client and the credentials have no default. */
export interface ApiServerOptions extends Observers {
  readonly client: KubeClient;
  /**
   * The server's certificate, which is also its own towards node agents, and who is trusted. For renewal:
   * `await authority.refresh(); return authority.issue(apiServerIdentity(), { dnsNames })`.
   */
  readonly credentials: () => Promise<Credentials>;
  /** Milliseconds between renewals. Default 20 minutes. */
  readonly renewalInterval?: number;
  /** The cluster's configuration as it is now. Default: KubeVirt's defaults. */
  readonly config?: () => ClusterConfig;
  /** Where the platform is installed, and its agents are found. Default kubevirt. */
  readonly namespace?: string;
  /** The platform's own accounts, which may write what others may not. Default: KubeVirt's, in that namespace. */
  readonly accounts?: ServiceAccounts;
  /** How to find node agents. Default: the ready Pod of the node, by KubeVirt's label. */
  readonly nodeAgentAddress?: NodeAgentAddress;
  /** The port of node agents. Default 8186. */
  readonly nodeAgentPort?: number;
  /** Who speaks for users. Default: follows the ConfigMap of kube-system. */
  readonly frontProxy?: FrontProxy;
  /** Objects whose CA bundles are kept current. Default: those with this package's names; none with `false`. */
  readonly bundles?: BundledObjects | false;
  readonly version?: ServerVersion;
  readonly guestfs?: Readonly<Record<string, string>>;
  /** Default: all addresses, port 8443. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  readonly limits?: Partial<ApiServerLimits>;
  readonly addressFault?: (address: string) => string | undefined;
  readonly clock?: Clock;
  readonly now?: () => Date;
}

/** The limits of one server. */
export interface ApiServerLimits {
  /** Maximum size of a body in bytes. kube-apiserver sends two objects of at most 1.5 MiB each in a review. */
  readonly body: number;
  /** Milliseconds in which a request must have been received. */
  readonly receive: number;
  /** Milliseconds for an answer that is not a stream. */
  readonly answer: number;
  /** Milliseconds for a review, unless the API server allows less. */
  readonly review: number;
  readonly connections: number;
  readonly streams: StreamLimits;
  /** Milliseconds between pings to clients of streams. */
  readonly ping: number;
}

const defaultLimits: ApiServerLimits = {
  body: 3 * 1024 * 1024,
  receive: 15_000,
  answer: 70_000,
  review: 9_000,
  connections: 5_000,
  streams: { perVmi: 32, inAll: 4_000 },
  ping: 1_000,
};

/** A running server. Disposal ends every stream and connection. */
export interface ApiServer extends AsyncDisposable {
  readonly port: number;
  /** The CAs of its certificate, as PEM. */
  readonly bundle: string;
  /** Why it is not ready; empty if it is. */
  readonly problems: readonly string[];
  /** The number of open streams. */
  readonly openStreams: number;
  /** Renews its certificate now, and updates the bundles. */
  renew(): Promise<void>;
}

/**
 * Starts the webhooks and the aggregated API on one port. The certificate is renewed without closing connections, and
 * changes to the front proxy's identity take effect without a restart.
 *
 * @example
 * const store = new SecretAuthorityStore(client, { namespace: "kubevirt", name: "virtkit-ca" });
 * const authority = await CertificateAuthority.open({ store, trustDomain: "cluster.local" });
 * const dnsNames = ["virt-api.kubevirt.svc"];
 * await using server = await createApiServer({
 *   client,
 *   credentials: async () => {
 *     await authority.refresh();
 *     return authority.issue(apiServerIdentity(), { dnsNames });
 *   },
 * });
 */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { credentials, renewalInterval, clock = realClock, log, metrics } = options;
  const renewed = await RenewedCredentials.start({
    obtain: credentials,
    clock,
    log,
    metrics,
    ...(renewalInterval === undefined ? {} : { interval: renewalInterval }),
  });
  const server = new HttpsApiServer(options, renewed);
  try {
    await server.listen();
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

class HttpsApiServer implements ApiServer {
  readonly #options: ApiServerOptions;
  readonly #limits: ApiServerLimits;
  readonly #renewed: RenewedCredentials;
  readonly #server: Server;
  readonly #api: AggregatedApi;
  readonly #ending = new AbortController();
  readonly #stopTimers: () => void;
  #frontProxy: FrontProxy | undefined;
  #used: Credentials;
  #following: Promise<void> | undefined;

  constructor(options: ApiServerOptions, renewed: RenewedCredentials) {
    this.#options = options;
    this.#renewed = renewed;
    this.#used = renewed.current;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#frontProxy = options.frontProxy;
    this.#server = createServer({
      ...this.#tls(),
      requestTimeout: this.#limits.receive,
      headersTimeout: Math.min(this.#limits.receive, 10_000),
      connectionsCheckingInterval: Math.min(1_000, this.#limits.receive),
      handshakeTimeout: 10_000,
      keepAliveTimeout: 90_000,
      maxHeaderSize: 64 * 1024,
      noDelay: true,
    });
    this.#server.maxConnections = this.#limits.connections;
    this.#api = new AggregatedApi(this.#apiOptions());
    this.#server.on("request", (request, response) => void this.#request(request, response));
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      (socket as Duplex & { setKeepAlive?(on: boolean, ms: number): void }).setKeepAlive?.(
        true,
        30_000,
      );
      void this.#api.upgrade(request, socket, head);
    });
    this.#server.on("tlsClientError", (error) => {
      options.log?.debug({ error: describeError(error) }, "a TLS handshake failed");
    });
    const { clock = realClock } = options;
    this.#stopTimers = every(clock, 10_000, () => void this.#follow());
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get bundle(): string {
    return this.#renewed.current.authorities;
  }

  get openStreams(): number {
    return this.#api.openStreams;
  }

  get problems(): readonly string[] {
    return [
      ...(this.#frontProxy
        ? []
        : [
            "it is not known who the front proxy is: the ConfigMap extension-apiserver-authentication of kube-system was not read",
          ]),
      ...(this.#server.listening ? [] : ["the server does not listen"]),
      ...(this.#ending.signal.aborted ? ["the server is shutting down"] : []),
    ];
  }

  async listen(): Promise<void> {
    const { client, frontProxy, listen = {}, log, metrics } = this.#options;
    if (!frontProxy) {
      const found = (next: FrontProxy): void => {
        this.#frontProxy = next;
        this.#server.setSecureContext(this.#tls());
      };
      const { signal } = this.#ending;
      this.#following = followFrontProxy(client, found, { signal, log, metrics }).catch((error) => {
        if (!signal.aborted)
          log?.error({ error: describeError(error) }, "the front proxy is not followed");
      });
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      const { host, port = 8443 } = listen;
      this.#server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        this.#server.off("error", reject);
        this.#server.on("error", (error) =>
          log?.error({ error: describeError(error) }, "the server failed"),
        );
        resolve();
      });
    });
    await this.#keepBundles();
  }

  async renew(): Promise<void> {
    await this.#renewed.renew();
    await this.#follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    this.#stopTimers();
    this.#renewed.close();
    this.#api.close();
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    this.#server.closeAllConnections();
    await closed;
    await this.#following;
  }

  #tls(): object {
    const { certificate, privateKey } = this.#renewed.current;
    return {
      cert: certificate,
      key: privateKey,
      // Who speaks for users is judged for each request; webhooks are called without a certificate.
      ...(this.#frontProxy ? { ca: this.#frontProxy.authorities } : {}),
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: "TLSv1.3",
      // A resumed session was verified against CAs that may be gone.
      secureOptions: constants.SSL_OP_NO_TICKET,
    };
  }

  #apiOptions(): ConstructorParameters<typeof AggregatedApi>[0] {
    const {
      client,
      config = () => defaultConfig,
      namespace = "kubevirt",
      clock = realClock,
    } = this.#options;
    const { now = wallTime, nodeAgentPort, guestfs, log, metrics, addressFault } = this.#options;
    const {
      nodeAgentAddress = (node, options) =>
        agentPodAddress(client, { namespace, names: config().names })(node, options),
      version = { gitVersion: "v1.9.0" },
    } = this.#options;
    return {
      client,
      config,
      frontProxy: () => this.#frontProxy,
      nodeAgentAddress,
      nodeCalls: { credentials: () => this.#renewed.current, port: nodeAgentPort },
      version,
      guestfs,
      clock,
      now,
      streams: this.#limits.streams,
      pingInterval: this.#limits.ping,
      maxBody: this.#limits.body,
      requestTimeout: this.#limits.answer,
      addressFault,
      log,
      metrics,
    };
  }

  /** Takes over a renewed certificate, and tells the API server whom to trust from now on. */
  async #follow(): Promise<void> {
    if (this.#renewed.current === this.#used) return;
    this.#used = this.#renewed.current;
    await this.#keepBundles();
    this.#server.setSecureContext(this.#tls());
  }

  async #keepBundles(): Promise<void> {
    const { bundles, client, config = () => defaultConfig, log } = this.#options;
    if (bundles === false) return;
    await keepBundles(client, this.bundle, bundles ?? bundledObjects(config().names), { log });
  }

  async #request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = "" } = request;
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    try {
      const webhook = webhookAt(path);
      if (webhook)
        await this.#review(webhook, mark < 0 ? "" : url.slice(mark + 1), request, response);
      else if (path === "/healthz" || path === "/readyz") this.#health(path, response);
      else await this.#api.handle(request, response);
    } catch (error) {
      this.#options.log?.error({ error: describeError(error) }, "a request failed");
      if (!response.headersSent)
        sendText(response, codeOf(error), describeError(error).slice(0, 500));
      else response.destroy();
    }
    if (request.complete) return;
    // The unread rest of a body is not awaited: the connection ends once the answer is sent. A request without a
    // body is complete right after its head, so its connection is kept.
    const cut = (): void => {
      if (!request.complete) request.destroy();
    };
    if (response.writableFinished) cut();
    else response.once("finish", cut);
  }

  #health(path: string, response: ServerResponse): void {
    const { problems } = this;
    const isWell = path === "/healthz" || problems.length === 0;
    sendText(response, isWell ? 200 : 503, isWell ? "ok" : problems.join("\n"));
  }

  async #review(
    mode: WebhookMode,
    query: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (request.method !== "POST") return sendText(response, 405, "POST an AdmissionReview");
    const {
      client,
      config = () => defaultConfig,
      accounts,
      log,
      metrics,
      clock = realClock,
    } = this.#options;
    const begun = clock.now();
    const body = await readBody(request, this.#limits.body);
    let review: unknown;
    try {
      review = JSON.parse(body.toString());
    } catch (error) {
      return sendText(
        response,
        400,
        `the body is not JSON: ${(error as Error).message.slice(0, 200)}`,
      );
    }
    const budget = new TimeBudget(clock, Math.min(this.#limits.review, budgetOf(query)));
    const answer = await answerAdmissionReview(mode, review, {
      client,
      config: config(),
      accounts,
      log,
      metrics,
      get signal(): AbortSignal {
        return budget.signal;
      },
    });
    budget[Symbol.dispose]();
    sendJson(response, 200, answer);
    const { allowed } = answer.response;
    metrics?.count("api_server_reviews", { mode, allowed: String(allowed) });
    metrics?.observe("api_server_review_seconds", (clock.now() - begun) / 1000, { mode });
  }
}

const defaultConfig = clusterConfig({});

/** Milliseconds that the API server waits, minus the time the answer needs: `?timeout=10s`. */
function budgetOf(query: string): number {
  if (query === "") return Number.POSITIVE_INFINITY;
  const seconds = /(?:^|&)timeout=(\d{1,3})s(?:&|$)/.exec(query)?.[1];
  return seconds === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(Number(seconds) * 1000 - 500, 500);
}

function codeOf(error: unknown): number {
  return isApiServerError(error) && error.code === "API_SERVER_BODY_TOO_LONG" ? 413 : 400;
}
