import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Clock } from "@virtkit/api/clock";
import type { ClusterConfig } from "@virtkit/api/config";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { Refusal } from "@virtkit/api/subresources";
import {
  maxStreamMessage,
  nodeRoutes,
  streamCloseCodes,
  streamProtocol,
} from "@virtkit/api/subresources/node";
import {
  type AccessReviewSpec,
  accessQuestion,
  nodeRefusal,
  type PlannedDial,
  type PlannedNodeCall,
  planSubresource,
  type RoutedRequest,
  routeSubresource,
  type SubresourcePlan,
  type SubresourceRequest,
  subresourceVersions,
} from "@virtkit/api/subresources/server";
import type { KubeClient } from "@virtkit/kube";
import { type WebSocket, WebSocketServer } from "ws";
import { parse } from "yaml";
import { askForAccess } from "../access/access-reviews.ts";
import { type FrontProxy, frontProxyFault } from "../access/front-proxy.ts";
import { isApiServerError } from "../api-server-error.ts";
import { refuseUpgrade, sendJson, sendText, statusOf } from "../http/answer.ts";
import { readBody } from "../http/read-body.ts";
import { TimeBudget } from "../http/time-budget.ts";
import { audit } from "./audit.ts";
import { carryOutWrites } from "./carry-out-writes.ts";
import { ClusterLookup, type NodeAgentAddress } from "./cluster-lookup.ts";
import { apiGroup, apiResources } from "./discovery.ts";
import { addressFault, dialGuest } from "./forward-port.ts";
import { callNode, type NodeCallOptions, openNodeStream } from "./node-calls.ts";
import { openApiDocument, openApiIndex, openApiV2Document } from "./openapi.ts";
import { relay } from "./relay.ts";
import { StreamCount, type StreamLimits } from "./stream-limits.ts";

/** The version that clients are shown, in KubeVirt's form. */
export interface ServerVersion {
  readonly gitVersion: string;
  readonly gitCommit?: string;
  readonly gitTreeState?: string;
  readonly buildDate?: string;
  readonly goVersion?: string;
  readonly compiler?: string;
  readonly platform?: string;
}

/** What {@link AggregatedApi} works with. */
export interface AggregatedApiOptions extends Observers {
  readonly client: KubeClient;
  readonly config: () => ClusterConfig;
  readonly frontProxy: () => FrontProxy | undefined;
  readonly nodeAgentAddress: NodeAgentAddress;
  readonly nodeCalls: NodeCallOptions;
  readonly version: ServerVersion;
  /** The image that `virtctl guestfs` starts; without it, that subresource is not served. */
  readonly guestfs?: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
  /** For certificates. */
  readonly now: () => Date;
  readonly streams: StreamLimits;
  /** Milliseconds. */
  readonly pingInterval: number;
  /** Maximum size of a body. */
  readonly maxBody: number;
  /** Milliseconds for a request that is not a stream. */
  readonly requestTimeout: number;
  /** Rejects addresses that must not be dialled; a test may allow its own. */
  readonly addressFault?: ((address: string) => string | undefined) | undefined;
}

/** Attempts at a request whose writes conflict with others. */
const maxAttempts = 4;

interface Allowed {
  readonly spec?: AccessReviewSpec;
}

interface Opened {
  readonly ended: Promise<void>;
}

interface StreamOutcome {
  readonly spec?: AccessReviewSpec | undefined;
  readonly code: number;
  readonly message?: string;
  /** When an open stream has ended. */
  readonly ended?: Promise<void>;
}

/** The group `subresources.kubevirt.io`: what users request, authorised, planned and carried out. */
export class AggregatedApi {
  readonly #options: AggregatedApiOptions;
  readonly #streams: StreamCount;
  readonly #sockets: WebSocketServer;
  readonly #ending = new AbortController();

  constructor(options: AggregatedApiOptions) {
    this.#options = options;
    this.#streams = new StreamCount(options.streams);
    // Each stream listens for the end.
    setMaxListeners(0, this.#ending.signal);
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxStreamMessage,
      handleProtocols: (offered) => (offered.has(streamProtocol) ? streamProtocol : false),
    });
  }

  /** The number of open streams. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Ends every stream. */
  close(): void {
    this.#ending.abort();
  }

  /** Answers a request. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begun = this.#options.clock.now();
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    using budget = new TimeBudget(this.#options.clock, this.#options.requestTimeout, gone.signal);
    const outcome = await this.#answer(request, response, budget.signal);
    const { method = "", url = "" } = request;
    const seconds = (this.#options.clock.now() - begun) / 1000;
    audit(
      { ...outcome, method, path: pathOf(url), code: response.statusCode, seconds },
      this.#options,
    );
  }

  /** Upgrades a request to a stream, or rejects it. Never rejects its promise. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const begun = this.#options.clock.now();
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    socket.once("close", leave);
    // `close` reports it.
    socket.on("error", leave);
    const outcome = await this.#stream(request, socket, head, gone.signal);
    if (outcome.ended) {
      // The stream's own listeners are attached now; what only the greeting needed is released.
      socket.off("close", leave);
      socket.off("error", leave);
    }
    const { method = "", url = "" } = request;
    this.#noteEnd(outcome, { method, path: pathOf(url), begun });
  }

  /** Logs a stream when it has ended. Keeps nothing of the request until then: a stream may live for days. */
  #noteEnd(
    { ended, ...outcome }: StreamOutcome,
    { method, path, begun }: { method: string; path: string; begun: number },
  ): void {
    const { clock } = this.#options;
    const note = (): void =>
      audit({ ...outcome, method, path, seconds: (clock.now() - begun) / 1000 }, this.#options);
    if (ended) void ended.then(note);
    else note();
  }

  get #group(): string {
    return this.#options.config().names.groups.core;
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<{ spec?: AccessReviewSpec | undefined; message?: string | undefined }> {
    let spec: AccessReviewSpec | undefined;
    const refuse = (refusal: Refusal) => {
      sendJson(response, refusal.code, statusOf(refusal, this.#group));
      return { spec, message: refusal.message };
    };
    try {
      const allowed = await this.#allowed(request, signal);
      spec = allowed.spec;
      if ("kind" in allowed) return refuse(allowed);
      const { method = "", url = "" } = request;
      const open =
        method === "GET" || method === "HEAD" ? this.#openAnswer(pathOf(url)) : undefined;
      if (open !== undefined) {
        sendJson(response, 200, open);
        return {};
      }
      const routed = routeSubresource(method, pathOf(url), this.#options.config().names);
      if ("code" in routed) {
        sendText(response, routed.code, routed.message);
        return { spec };
      }
      const body = (await readBody(request, this.#options.maxBody)).toString();
      const refusal = await this.#carryOut(
        asRequest(routed, request, body, false),
        response,
        signal,
      );
      return refusal ? refuse(refusal) : { spec };
    } catch (error) {
      if (response.headersSent) {
        response.destroy();
        return { spec, message: describeError(error) };
      }
      return refuse(this.#failure(error, signal));
    }
  }

  /**
   * Authorises a request. Open paths need no permission. For others, the front proxy names the user, and the cluster
   * decides what that user may do.
   */
  async #allowed(
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<(Refusal & Allowed) | Allowed> {
    const { frontProxy, config, client, now, log } = this.#options;
    const { method = "", url = "", headersDistinct: headers } = request;
    const proxy = frontProxy();
    const question = accessQuestion(
      { method, path: pathOf(url), headers },
      proxy?.headers,
      config().names,
    );
    if (question.kind === "open") return {};
    const fault = proxy
      ? frontProxyFault(request.socket as TLSSocket, proxy, now())
      : "the front proxy is not known yet";
    if (fault) {
      log?.warn(
        { fault, from: request.socket.remoteAddress },
        "a request did not come through the front proxy",
      );
      return forbidden(`requests must come through kube-apiserver: ${fault}`, 401);
    }
    if (question.kind === "denied") return forbidden(question.why);
    const { spec } = question;
    const answer = await askForAccess(client, spec, { signal, log });
    if (answer.allowed) return { spec };
    const { verb, resource, subresource, namespace } = spec.resourceAttributes;
    const what = subresource ? `${resource}/${subresource}` : resource;
    const message = `user ${JSON.stringify(spec.user)} cannot ${verb} ${JSON.stringify(what)} in namespace ${JSON.stringify(namespace)}: ${answer.reason}`;
    return { ...forbidden(message), spec };
  }

  /** What everybody may know; `undefined` for any other path. */
  #openAnswer(path: string): unknown {
    const { config, version, guestfs } = this.#options;
    const { names } = config();
    const group = names.groups.subresources;
    const root = `/apis/${group}`;
    switch (path) {
      case "/":
        return { paths: ["/apis", root, ...subresourceVersions.map((each) => `${root}/${each}`)] };
      case "/apis":
        return { kind: "APIGroupList", apiVersion: "v1", groups: [apiGroup(names)] };
      case root:
        return apiGroup(names);
      case "/openapi/v2":
        return openApiV2Document(names);
      case "/openapi/v3":
        return openApiIndex(names);
    }
    for (const each of subresourceVersions) {
      if (path === `${root}/${each}`) return apiResources(names, each);
      if (path === `/openapi/v3${root}/${each}`) return openApiDocument(names, each);
      if (path === `${root}/${each}/version`) return version;
      if (path === `${root}/${each}/healthz`) return { apiserver: { connectivity: "ok" } };
      if (path === `${root}/${each}/guestfs`) return guestfs;
    }
    return undefined;
  }

  /** Carries out the plan; returns why not, or has answered. */
  async #carryOut(
    request: SubresourceRequest,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    const { client, config, log, metrics, nodeCalls } = this.#options;
    let refusal: Refusal | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const plan = await this.#plan(request, signal);
      switch (plan.kind) {
        case "refused":
          return plan;
        case "answer":
          sendJson(response, plan.code, plan.body);
          return undefined;
        case "dial":
          return badUpgrade("this is a stream; ask for an upgrade to a WebSocket");
        case "node":
          return this.#askNode(plan, nodeCalls, response, signal);
        case "writes": {
          const { names } = config();
          const options = { client, names, signal, log, metrics };
          const outcome = await carryOutWrites(plan, request.namespace, options);
          if (outcome.kind === "done") {
            sendJson(response, plan.code, undefined);
            return undefined;
          }
          refusal = outcome.refusal;
          if (outcome.kind === "refused") return refusal;
        }
      }
    }
    return refusal;
  }

  #plan(request: SubresourceRequest, signal: AbortSignal): Promise<SubresourcePlan> {
    const { client, config, nodeAgentAddress } = this.#options;
    const { names } = config();
    const lookup = new ClusterLookup({ client, names, nodeAgentAddress, signal });
    return planSubresource(request, { config: config(), lookup, parse: (text) => parse(text) });
  }

  async #askNode(
    plan: PlannedNodeCall,
    calls: NodeCallOptions,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    const { code, body, contentType } = await callNode(plan, calls, { signal });
    if (code >= 300) return nodeRefusal(plan.request, code, body.toString());
    const { answer } = nodeRoutes[plan.request.subresource];
    if (answer === undefined) {
      sendJson(response, plan.code, undefined);
      return undefined;
    }
    if (answer === "json" && !isJson(body)) {
      return nodeRefusal(plan.request, 500, "its answer is not JSON");
    }
    const type = answer === "json" ? "application/json" : (contentType ?? "image/png");
    response.writeHead(plan.code, { "content-type": type, "content-length": body.length });
    response.end(body);
    return undefined;
  }

  async #stream(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    gone: AbortSignal,
  ): Promise<StreamOutcome> {
    let spec: AccessReviewSpec | undefined;
    const refuse = (refusal: Refusal): StreamOutcome => {
      refuseUpgrade(socket, refusal.code, statusOf(refusal, this.#group));
      return { spec, code: refusal.code, message: refusal.message };
    };
    try {
      const { clock, requestTimeout } = this.#options;
      // Only the greeting has a time limit; the stream lives for as long as both ends do.
      using budget = new TimeBudget(clock, requestTimeout, gone);
      const { signal } = budget;
      const allowed = await this.#allowed(request, signal);
      spec = allowed.spec;
      if ("kind" in allowed) return refuse(allowed);
      const { method = "", url = "" } = request;
      const routed = routeSubresource(method, pathOf(url), this.#options.config().names);
      if ("code" in routed) {
        const reason = routed.code === 404 ? "NotFound" : "MethodNotAllowed";
        return refuse({ kind: "refused", code: routed.code, reason, message: routed.message });
      }
      const key = request.headers["sec-websocket-key"] ?? "";
      const fault = handshakeFault(request, key);
      if (fault) return refuse(badUpgrade(fault));
      const release = this.#streams.take(`${routed.namespace}/${routed.name}`);
      if (!release) return refuse(tooManyStreams);
      let ended: Promise<void> | undefined;
      try {
        const plan = await this.#plan(asRequest(routed, request, "", true), signal);
        if (plan.kind === "refused") return refuse(plan);
        const opened =
          plan.kind === "dial"
            ? await this.#forward(plan, request, socket, head)
            : plan.kind === "node"
              ? await this.#relay(plan, key, request, socket, head, { gone, signal })
              : badUpgrade("this is not a stream");
        if ("kind" in opened) return refuse(opened);
        ended = opened.ended.then(release);
        return { spec, code: 101, ended };
      } finally {
        if (!ended) release();
      }
    } catch (error) {
      return refuse(this.#failure(error, gone));
    }
  }

  async #relay(
    plan: PlannedNodeCall,
    key: string,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { gone, signal }: { readonly gone: AbortSignal; readonly signal: AbortSignal },
  ): Promise<Refusal | Opened> {
    const { nodeCalls, clock, pingInterval } = this.#options;
    const opened = await openNodeStream(plan, key, nodeCalls, { signal });
    if (!("socket" in opened)) {
      return nodeRefusal(plan.request, opened.code, opened.body.toString());
    }
    if (gone.aborted) {
      opened.socket.destroy();
      return badUpgrade("the client disconnected");
    }
    const offers = request.headers["sec-websocket-protocol"] !== undefined;
    socket.write(greeting(opened.accept, offers));
    if (opened.head.length > 0) socket.write(opened.head);
    if (head.length > 0) opened.socket.write(head);
    const ended = relay(socket, opened.socket, {
      clock,
      pingInterval,
      signal: this.#ending.signal,
    });
    return { ended };
  }

  async #forward(
    plan: PlannedDial,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<Refusal | Opened> {
    const { clock, pingInterval, addressFault: judge = addressFault } = this.#options;
    const fault = judge(plan.address);
    if (fault) return badUpgrade(`the guest's address is not dialled: ${fault}`);
    const port = await dialGuest(plan, { clock, pingInterval });
    const closing = this.#ending.signal;
    const ended = new Promise<void>((resolve) => {
      socket.once("close", () => {
        port.close();
        resolve();
      });
      this.#sockets.handleUpgrade(request, socket, head, (client: WebSocket) => {
        const end = (): void => client.close(streamCloseCodes.goingAway);
        closing.addEventListener("abort", end, { once: true });
        void port.join(client).then(() => {
          closing.removeEventListener("abort", end);
          resolve();
        });
      });
    });
    return { ended };
  }

  #failure(error: unknown, signal: AbortSignal): Refusal {
    const message = describeError(error);
    this.#options.log?.warn({ error: message }, "a request could not be answered");
    if (isApiServerError(error)) {
      switch (error.code) {
        case "API_SERVER_BODY_TOO_LONG":
          return { kind: "refused", code: 413, reason: "BadRequest", message: error.message };
        case "API_SERVER_BODY_CUT_OFF":
          return badUpgrade(error.message);
        default:
          return internal(error.message);
      }
    }
    return internal(signal.aborted ? "timed out; try again" : message.slice(0, 500));
  }
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

function asRequest(
  routed: RoutedRequest,
  { url = "", headers }: IncomingMessage,
  body: string,
  upgrade: boolean,
): SubresourceRequest {
  const search = url.includes("?") ? url.slice(url.indexOf("?") + 1) : "";
  const query = Object.fromEntries(new URLSearchParams(search.slice(0, 4096)));
  return { ...routed, query, body, contentType: headers["content-type"], upgrade };
}

function forbidden(message: string, code: 401 | 403 = 403): Refusal {
  return { kind: "refused", code, reason: "Forbidden", message };
}

function badUpgrade(message: string): Refusal {
  return { kind: "refused", code: 400, reason: "BadRequest", message };
}

function internal(message: string): Refusal {
  return { kind: "refused", code: 500, reason: "InternalError", message };
}

const tooManyStreams: Refusal = {
  kind: "refused",
  code: 429,
  reason: "TooManyRequests",
  message: "this VMI has too many open streams; close some",
};

/** What is wrong with the client's half of the handshake. The key becomes part of a request to the node. */
function handshakeFault({ headers }: IncomingMessage, key: string): string | undefined {
  if (headers.upgrade?.toLowerCase() !== "websocket") return "upgrade to a WebSocket";
  if (headers["sec-websocket-version"] !== "13") return "use version 13 of WebSockets";
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) return "Sec-WebSocket-Key is not valid";
  const offered = headers["sec-websocket-protocol"];
  if (offered === undefined) return undefined;
  return offered.split(",").some((name) => name.trim() === streamProtocol)
    ? undefined
    : `use the subprotocol ${streamProtocol}`;
}

function greeting(accept: string, namesProtocol: boolean): string {
  const lines = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accept}`,
    ...(namesProtocol ? [`Sec-WebSocket-Protocol: ${streamProtocol}`] : []),
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
