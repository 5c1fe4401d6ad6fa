import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContext } from "node:tls";
import {
  maxNodeRequestBody,
  nodeAgentPort,
  nodeRequestPath,
  nodeRoutes,
  streamProtocol,
  vmiUidHeader,
} from "@virtkit/api/subresources/node";
import type { PlannedNodeCall } from "@virtkit/api/subresources/server";
import { type Credentials, clientTlsOptions, nodeAgentIdentity } from "@virtkit/pki";
import { ApiServerError } from "../api-server-error.ts";

/** What node agents are called with. */
export interface NodeCallOptions {
  /** The newest credentials of this server. */
  readonly credentials: () => Credentials;
  /** Default: the port of node agents. */
  readonly port?: number | undefined;
}

/** What a node agent answered. */
export interface NodeAnswer {
  readonly code: number;
  readonly body: Buffer;
  readonly contentType: string | undefined;
}

/** A stream that a node agent opened: its socket and its greeting. */
export interface NodeStream {
  readonly socket: Duplex;
  /** What followed the greeting. */
  readonly head: Buffer;
  readonly accept: string;
}

/** Maximum sizes of answers: a screenshot of a large display, a list of file systems. */
const maxImage = 64 * 1024 * 1024;
const maxJson = 4 * 1024 * 1024;
const maxWords = 16 * 1024;

/**
 * Asks a node agent over mutual TLS: it must present the certificate of exactly that node, whatever its address.
 * The request carries the VMI's UID, so that it cannot reach another VMI with the same name.
 */
export function callNode(
  plan: PlannedNodeCall,
  options: NodeCallOptions,
  { signal }: { readonly signal: AbortSignal },
): Promise<NodeAnswer> {
  const { method, answer, timeout } = nodeRoutes[plan.request.subresource];
  const body = Buffer.from(plan.body);
  if (body.length > maxNodeRequestBody) {
    const message = `the body is longer than the ${maxNodeRequestBody} bytes that a node accepts`;
    return Promise.reject(new ApiServerError("API_SERVER_BODY_TOO_LONG", message));
  }
  return new Promise((resolve, reject) => {
    const call = request({
      ...connectionTo(plan, options),
      method,
      headers: { [vmiUidHeader]: plan.vmiUid, "content-length": body.length },
      signal,
      timeout,
    });
    call.once("timeout", () => call.destroy(unreachable(plan, "it did not answer in time")));
    call.once("error", (error) => reject(unreachable(plan, error.message, error)));
    call.once("response", (response) => {
      const limit = limitOf(response, answer);
      collect(response, limit).then(
        (read) =>
          resolve({
            code: response.statusCode ?? 0,
            body: read,
            contentType: response.headers["content-type"],
          }),
        (error: Error) => {
          call.destroy();
          reject(unreachable(plan, error.message, error));
        },
      );
    });
    call.end(body);
  });
}

/**
 * Opens a stream of a guest. The node agent greets the client itself: it receives the client's key, and everything
 * after that is passed on byte by byte.
 */
export function openNodeStream(
  plan: PlannedNodeCall,
  key: string,
  options: NodeCallOptions,
  { signal }: { readonly signal: AbortSignal },
): Promise<NodeStream | NodeAnswer> {
  const { timeout } = nodeRoutes[plan.request.subresource];
  return new Promise((resolve, reject) => {
    const call = request({
      ...connectionTo(plan, options),
      method: "GET",
      headers: {
        [vmiUidHeader]: plan.vmiUid,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": key,
        "sec-websocket-protocol": streamProtocol,
      },
      timeout,
    });
    const stop = (): void => void call.destroy(new Error("the client disconnected"));
    signal.addEventListener("abort", stop, { once: true });
    call.once("timeout", () => call.destroy(unreachable(plan, "it did not answer in time")));
    call.once("error", (error) => reject(unreachable(plan, error.message, error)));
    call.once("upgrade", (response, socket, head) => {
      signal.removeEventListener("abort", stop);
      socket.setTimeout(0);
      const accept = response.headers["sec-websocket-accept"];
      if (signal.aborted || accept === undefined) {
        socket.destroy();
        reject(unreachable(plan, "its greeting is not that of a WebSocket"));
      } else resolve({ socket, head, accept });
    });
    call.once("response", (response) => {
      collect(response, maxWords).then(
        (body) => resolve({ code: response.statusCode ?? 0, body, contentType: undefined }),
        (error: Error) => reject(unreachable(plan, error.message, error)),
      );
    });
    call.end();
  });
}

function connectionTo(
  { address, node, request: asked }: PlannedNodeCall,
  { credentials, port = nodeAgentPort }: NodeCallOptions,
): object {
  const current = credentials();
  const tls = clientTlsOptions(current, nodeAgentIdentity(node));
  return {
    ...tls,
    secureContext: secureContextOf(current, tls),
    host: address,
    port,
    path: nodeRequestPath(asked),
    // Each connection is verified: an HTTP agent of Node would resume sessions without verification.
    agent: false,
  };
}

const contexts = new WeakMap<Credentials, SecureContext>();

/**
 * What OpenSSL keeps per set of credentials, created once for all connections that use them: otherwise, a console
 * that is open for days would hold its own copy. The peer is still verified for each connection.
 */
function secureContextOf(credentials: Credentials, tls: object): SecureContext {
  const known = contexts.get(credentials);
  if (known) return known;
  const made = createSecureContext(tls);
  contexts.set(credentials, made);
  return made;
}

function limitOf(response: IncomingMessage, answer: "json" | "image" | undefined): number {
  if ((response.statusCode ?? 500) >= 300) return maxWords;
  return answer === "image" ? maxImage : answer === "json" ? maxJson : maxWords;
}

async function collect(response: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += (chunk as Buffer).length;
    if (length > limit) throw new Error(`its answer is longer than ${limit} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function unreachable({ node }: PlannedNodeCall, why: string, cause?: unknown): ApiServerError {
  const message = `the agent of node ${JSON.stringify(node)} cannot be asked: ${why}`;
  return new ApiServerError("API_SERVER_NODE_UNREACHABLE", message, { cause });
}
