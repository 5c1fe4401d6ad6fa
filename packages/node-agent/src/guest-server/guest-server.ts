import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { describeError, type Observers, silentLog } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  maxNodeRequestBody,
  maxStreamMessage,
  type NodeRequest,
  nodeAgentPort,
  nodeRoutes,
  parseNodeRequest,
  streamCloseCodes,
  streamProtocol,
  vmiUidHeader,
} from "@virtkit/api/subresources/node";
import {
  apiServerIdentity,
  type Credentials,
  type Expectation,
  peerIdentity,
  serverTlsOptions,
} from "@virtkit/pki";
import { type WebSocket, WebSocketServer } from "ws";
import { answerCall, failed, type NodeAnswer, type RequestEvent } from "./answer-call.ts";
import { carryOutCall } from "./carry-out-call.ts";
import { vsockDialer } from "./dial-vsock.ts";
import type { CallOutcome, LauncherCall } from "./launcher-call.ts";
import { answerStreamFailure, openGuestStream } from "./open-guest-stream.ts";
import { type GuestStream, planNodeRequest, type RequestPlan } from "./plan-node-request.ts";
import { readBody } from "./read-body.ts";
import { relayStream } from "./relay-stream.ts";
import type { ServedGuest, VsockDialer } from "./served-guest.ts";

/** What one server takes on at the same time; more is answered with 503, or not accepted. */
export interface GuestServerLimits {
  readonly connections: number;
  readonly streams: number;
  /** Requests that wait for one VMI's launcher, so that a slow one keeps nobody else from being served. */
  readonly requestsPerVmi: number;
}

/** Credentials that may be renewed: `RenewedCredentials` of `@virtkit/pki` are. */
export interface ServerCredentials {
  readonly current: Credentials;
  /** Has the server use the newest ones. */
  serve?(server: Server): void;
}

/** What {@link startGuestServer} works with. */
export interface GuestServerOptions extends Observers {
  readonly nodeName: string;
  readonly credentials: ServerCredentials;
  /** Who may call. Default: the API server, and nobody else. */
  readonly caller?: Expectation;
  readonly findGuest: (namespace: string, name: string) => ServedGuest | undefined;
  /** Receives the events that a request causes for its VMI. Must not throw. */
  readonly recordEvent?: (vmi: VirtualMachineInstance, event: RequestEvent) => void;
  /** Default: a `vsockDialer` without a certificate for guests, which therefore refuses TLS. */
  readonly dialVsock?: VsockDialer;
  /** Default: all addresses. */
  readonly address?: string;
  /** Default: the port that API servers call. */
  readonly port?: number;
  readonly limits?: Partial<GuestServerLimits>;
}

/** A server that runs. Disposal ends every stream and waits for requests in progress. */
export type GuestServer = AsyncDisposable & {
  readonly port: number;
};

const defaultLimits: GuestServerLimits = { connections: 512, streams: 256, requestsPerVmi: 8 };
/** Milliseconds. */
const timeouts = { handshake: 10_000, headers: 10_000, request: 30_000, idle: 60_000 };

/**
 * Serves the node's half of subresources to the API server: streams to guests, and verbs for their launchers.
 * One port, mutual TLS; a peer with another role is disconnected before a byte of a request is read.
 *
 * @example
 * await using server = await startGuestServer({ nodeName, credentials, findGuest });
 */
export async function startGuestServer(options: GuestServerOptions): Promise<GuestServer> {
  const server = new HttpsGuestServer(options);
  await server.listen();
  return server;
}

class HttpsGuestServer implements GuestServer {
  readonly #options: GuestServerOptions;
  readonly #limits: GuestServerLimits;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #clients = new Set<WebSocket>();
  readonly #stop = new AbortController();
  readonly #waiting = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();
  #streams = 0;

  constructor(options: GuestServerOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    const { credentials } = options;
    this.#server = createServer({
      ...serverTlsOptions(credentials.current),
      handshakeTimeout: timeouts.handshake,
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      keepAliveTimeout: timeouts.idle,
      maxHeaderSize: 16 * 1024,
    });
    credentials.serve?.(this.#server);
    this.#server.maxConnections = this.#limits.connections;
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxStreamMessage,
      handleProtocols: (offered) => (offered.has(streamProtocol) ? streamProtocol : false),
    });
    // First of all listeners: a peer that may not be here is gone before its request is read.
    this.#server.prependListener("secureConnection", (socket) => this.#admit(socket));
    this.#server.on("tlsClientError", (error) => this.#warn(error, "a TLS handshake failed"));
    this.#server.on("request", (request, response) => {
      const answered = this.#request(request, response).finally(() => {
        this.#pending.delete(answered);
      });
      this.#pending.add(answered);
    });
    this.#server.on(
      "upgrade",
      (request, socket, head) => void this.#upgrade(request, socket, head),
    );
  }

  async listen(): Promise<void> {
    const { address, port = nodeAgentPort } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ port, ...(address ? { host: address } : {}) }, () => {
        this.#server.off("error", reject);
        this.#server.on("error", (error) => this.#warn(error, "the guest server failed"));
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    for (const client of this.#clients) {
      client.close(streamCloseCodes.goingAway, "the node agent is shutting down");
    }
    await Promise.all(this.#pending);
    // They were informed; a peer that does not react does not keep this process alive.
    for (const client of this.#clients) client.terminate();
    this.#server.closeAllConnections();
    await closed;
  }

  #admit(socket: TLSSocket): void {
    const { credentials, caller = apiServerIdentity(), metrics } = this.#options;
    socket.setKeepAlive(true, 30_000);
    try {
      peerIdentity(socket, credentials.current, caller);
    } catch (error) {
      metrics?.count("guest_server_refused_peers");
      this.#warn(error, "a peer is not allowed to call this node agent");
      socket.destroy();
    }
  }

  async #request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    if (socket.destroyed) return;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      send(response, await this.#answer(request, gone.signal));
    } catch (error) {
      this.#warn(error, "a request failed");
      send(response, failed(500, "the node agent failed; its log says why"));
    }
  }

  async #answer(request: IncomingMessage, gone: AbortSignal): Promise<NodeAnswer> {
    const routed = parseNodeRequest(request.method ?? "", request.url ?? "");
    if ("code" in routed) return failed(routed.code, routed.message);
    const { success, body: kind } = nodeRoutes[routed.subresource];
    if (success === 101) return failed(400, `${routed.subresource} is a WebSocket; upgrade`);
    const body = kind ? await readBody(request, maxNodeRequestBody) : "";
    if (body === undefined) {
      return failed(413, `the body is longer than ${maxNodeRequestBody} bytes`);
    }
    const { guest, plan } = this.#plan(routed, request, body);
    if (plan.kind === "refused") return failed(plan.code, plan.message);
    if (plan.kind === "stream" || !guest) return failed(404, "this node has no such VMI");
    return await this.#call(guest, plan.call, gone);
  }

  #plan(
    routed: NodeRequest,
    request: IncomingMessage,
    body?: string,
  ): { readonly guest: ServedGuest | undefined; readonly plan: RequestPlan } {
    const { nodeName, findGuest, metrics } = this.#options;
    const guest = findGuest(routed.namespace, routed.name);
    const header = request.headers[vmiUidHeader];
    const uid = typeof header === "string" ? header : undefined;
    const facts = { nodeName, vmi: guest?.vmi, uid, ...(body === undefined ? {} : { body }) };
    const plan = planNodeRequest(routed, facts);
    metrics?.count("guest_requests", { subresource: routed.subresource, plan: plan.kind });
    return { guest, plan };
  }

  async #call(guest: ServedGuest, call: LauncherCall, gone: AbortSignal): Promise<NodeAnswer> {
    const uid = guest.vmi.metadata?.uid ?? "";
    const waiting = this.#waiting.get(uid) ?? 0;
    if (waiting >= this.#limits.requestsPerVmi) {
      return failed(503, `${waiting} requests are waiting for this VMI's launcher; try again`);
    }
    this.#waiting.set(uid, waiting + 1);
    try {
      const outcome = await this.#outcome(guest, call, gone);
      const answer = "code" in outcome ? outcome : answerCall(call, outcome);
      for (const event of answer.events) this.#options.recordEvent?.(guest.vmi, event);
      return answer;
    } finally {
      const left = (this.#waiting.get(uid) ?? 1) - 1;
      if (left > 0) this.#waiting.set(uid, left);
      else this.#waiting.delete(uid);
    }
  }

  async #outcome(
    guest: ServedGuest,
    call: LauncherCall,
    gone: AbortSignal,
  ): Promise<CallOutcome | NodeAnswer> {
    const signal = AbortSignal.any([gone, this.#stop.signal]);
    try {
      const launcher = await guest.launcher({ signal });
      return await carryOutCall(call, launcher, { mayRun: () => guest.mayRun({ signal }), signal });
    } catch (error) {
      return failed(500, `the launcher cannot be reached: ${describeError(error)}`);
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    if (socket.destroyed) return;
    try {
      const routed = parseNodeRequest(request.method ?? "", request.url ?? "");
      if ("code" in routed) return refuseUpgrade(socket, failed(routed.code, routed.message));
      const { guest, plan } = this.#plan(routed, request);
      if (plan.kind === "refused") return refuseUpgrade(socket, failed(plan.code, plan.message));
      if (plan.kind === "call" || !guest) {
        return refuseUpgrade(socket, failed(400, `${routed.subresource} is not a stream`));
      }
      if (this.#streams >= this.#limits.streams) {
        return refuseUpgrade(socket, failed(503, `${this.#streams} streams are open; try again`));
      }
      this.#streams++;
      try {
        await this.#stream(guest, plan.stream, { request, socket, head });
      } finally {
        this.#streams--;
      }
    } catch (error) {
      this.#warn(error, "a stream failed");
      socket.destroy();
    }
  }

  async #stream(
    guest: ServedGuest,
    planned: GuestStream,
    { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
  ): Promise<void> {
    const gone = new AbortController();
    const onGone = (): void => gone.abort();
    socket.once("close", onGone);
    const signal = AbortSignal.any([gone.signal, this.#stop.signal]);
    const dialVsock = this.#options.dialVsock ?? vsockDialer();
    let stream: Duplex;
    try {
      stream = await openGuestStream(planned, { guest, dialVsock, signal });
    } catch (error) {
      this.#warn(error, "a guest's stream cannot be opened");
      return refuseUpgrade(socket, answerStreamFailure(error));
    }
    try {
      const client = await this.#accept(request, socket, head);
      if (!client) return;
      this.#clients.add(client);
      await relayStream(client, stream);
      this.#clients.delete(client);
    } finally {
      socket.off("close", onGone);
      stream.destroy();
    }
  }

  /** Undefined if the handshake is not valid; the client has got an answer. */
  #accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<WebSocket | undefined> {
    return new Promise((resolve) => {
      const onClose = (): void => resolve(undefined);
      socket.once("close", onClose);
      this.#sockets.handleUpgrade(request, socket, head, (client) => {
        socket.off("close", onClose);
        resolve(client);
      });
    });
  }

  #warn(error: unknown, what: string): void {
    (this.#options.log ?? silentLog).warn({ error: describeError(error) }, what);
  }
}

function send(response: ServerResponse, { code, contentType, body }: NodeAnswer): void {
  if (response.destroyed || response.headersSent) return;
  response.statusCode = code;
  if (contentType) response.setHeader("content-type", contentType);
  // What is left of a body that was too long is not read.
  if (code === 413) response.setHeader("connection", "close");
  response.end(body);
}

function refuseUpgrade(socket: Duplex, { code, contentType, body }: NodeAnswer): void {
  const text = Buffer.from(body ?? "");
  const head = [
    `HTTP/1.1 ${code} Refused`,
    "connection: close",
    `content-type: ${contentType}`,
    `content-length: ${text.length}`,
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), text]));
}
