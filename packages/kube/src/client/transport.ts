import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Clock } from "@virtkit/api/clock";
import type { Answer } from "./answer-parser.ts";
import type { Connection, Credentials, TlsSettings } from "./connection.ts";
import { CurrentCredentials } from "./current-credentials.ts";
import { KeptAgents } from "./kept-agents.ts";
import { probeMilliseconds } from "./kept-connections.ts";
import { KubeError } from "./kube-error.ts";
import { readBody } from "./read-body.ts";
import { requestHead } from "./request-head.ts";
import type { RequestScope } from "./request-scope.ts";

/** One HTTP request. */
export interface TransportRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

const noHeaders: Readonly<Record<string, string>> = {};
const noTls: TlsSettings = {};

/** HTTP/1.1 to one server, over connections that are kept. What it throws is what Node threw. */
export class Transport {
  readonly #isSecure: boolean;
  readonly #hostname: string;
  readonly #port: number;
  readonly #host: string;
  readonly #prefix: string;
  readonly #maxAnswerBytes: number;
  readonly #credentials: CurrentCredentials;
  readonly #agents: KeptAgents;

  constructor(connection: Connection, clock: Clock, maxAnswerBytes: number) {
    const { protocol, hostname, host, port, pathname } = serverUrl(connection.server);
    this.#isSecure = protocol === "https:";
    this.#hostname = hostname.replaceAll(/^\[|\]$/g, "");
    this.#port = port ? Number(port) : this.#isSecure ? 443 : 80;
    this.#host = host;
    this.#prefix = pathname.replace(/\/+$/, "");
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#credentials = new CurrentCredentials(connection, clock);
    const server = { host: this.#hostname, port: this.#port, isSecure: this.#isSecure };
    this.#agents = new KeptAgents(server);
  }

  /** Sends a request and reads the complete response. */
  async exchange(request: TransportRequest, scope: RequestScope): Promise<Answer> {
    const credentials = await this.#known(scope);
    if (credentials.agent) return await this.#exchangeThrough(request, credentials, scope);
    const { headers = noHeaders, tls = noTls } = credentials;
    const { method, path, body = "" } = request;
    const all = { host: this.#host, ...headers, ...request.headers };
    const text = requestHead(method, this.#prefix + path, all) + body;
    const exchange = { method, text, maxBytes: this.#maxAnswerBytes };
    return this.#checked(await this.#agents.get(tls).requests.exchange(exchange, scope));
  }

  /**
   * Resolves with the head of the answer; its body has not been read. The end of the scope ends the body, too. It has
   * a connection of its own, so that it never keeps a request waiting.
   */
  async open(request: TransportRequest, scope: RequestScope): Promise<IncomingMessage> {
    return await this.#start(request, await this.#known(scope), scope);
  }

  close(): void {
    this.#agents.close();
  }

  async #known(scope: RequestScope): Promise<Credentials> {
    return (
      this.#credentials.current ?? (await unlessAborted(this.#credentials.get(), scope.signal))
    );
  }

  /** Through an agent of the caller's, as to a proxy. */
  async #exchangeThrough(
    request: TransportRequest,
    credentials: Credentials,
    scope: RequestScope,
  ): Promise<Answer> {
    const response = await this.#start(request, credentials, scope);
    const headers = headersOf(response);
    const body = await readBody(response, this.#maxAnswerBytes);
    return { status: response.statusCode ?? 0, headers, body };
  }

  async #start(
    request: TransportRequest,
    { headers, tls = noTls, agent }: Credentials,
    scope: RequestScope,
  ): Promise<IncomingMessage> {
    const start = this.#isSecure ? requestHttps : requestHttp;
    const call = start({
      ...(agent && tls),
      hostname: this.#hostname,
      port: this.#port,
      method: request.method,
      path: this.#prefix + request.path,
      headers: { ...headers, ...request.headers },
      agent: agent ?? this.#agents.get(tls).watches,
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      call.once("response", resolve);
      call.on("error", reject);
      scope.onStop(() => void call.destroy(new Error("aborted")));
      // Without it, a server that is not sent anything for long may give up on the connection unseen.
      call.setSocketKeepAlive(true, probeMilliseconds);
      call.end(request.body);
    });
    this.#checked({ status: response.statusCode ?? 0 });
    return response;
  }

  #checked<T extends Pick<Answer, "status">>(answer: T): T {
    // The next request may do better with a token that was renewed meanwhile.
    if (answer.status === 401) this.#credentials.forget();
    return answer;
  }
}

/** The headers of an answer of Node's client. */
export function headersOf(response: IncomingMessage): Record<string, string> {
  const headers = Object.entries(response.headers);
  return Object.fromEntries(headers.map(([name, value]) => [name, String(value)]));
}

/** Waits no longer than until the signal: a plug-in that gives credentials may hang. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new Error("aborted"));
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function serverUrl(server: string): URL {
  if (URL.canParse(server) && /^https?:\/\//.test(server)) return new URL(server);
  const message = `server: must be a URL like https://host:6443, found ${JSON.stringify(server)}`;
  throw new KubeError("KUBE_INPUT_INVALID", message, { path: "server" });
}
