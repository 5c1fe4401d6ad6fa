import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Clock } from "@virtkit/api/clock";
import type { Connection } from "./connection.ts";
import { CurrentCredentials } from "./current-credentials.ts";
import { KeptAgents } from "./kept-agents.ts";
import { KubeError } from "./kube-error.ts";

/** One HTTP request. */
export interface TransportRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Watches have connections of their own, so that they never keep a request waiting. */
  readonly isWatch?: boolean | undefined;
}

/** HTTP/1.1 to one server, over connections that are kept. What it throws is what Node threw. */
export class Transport {
  readonly #server: URL;
  readonly #prefix: string;
  readonly #credentials: CurrentCredentials;
  readonly #agents: KeptAgents;

  constructor(connection: Connection, clock: Clock) {
    this.#server = serverUrl(connection.server);
    this.#prefix = this.#server.pathname.replace(/\/+$/, "");
    this.#credentials = new CurrentCredentials(connection, clock);
    this.#agents = new KeptAgents(this.#server.protocol === "https:");
  }

  /** Resolves with the head of the answer; its body has not been read. The signal ends the body, too. */
  async send(request: TransportRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { headers = {}, tls = {}, agent } = await unlessAborted(this.#credentials.get(), signal);
    const { protocol, hostname, port } = this.#server;
    const start = protocol === "https:" ? requestHttps : requestHttp;
    const call = start({
      ...(agent && tls),
      hostname: hostname.replaceAll(/^\[|\]$/g, ""),
      port: port || (protocol === "https:" ? 443 : 80),
      method: request.method,
      path: this.#prefix + request.path,
      headers: { ...headers, ...request.headers },
      agent: agent ?? this.#agents.get(tls, request.isWatch ? "watches" : "requests"),
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const stop = (): void => void call.destroy(new Error("aborted"));
      signal.addEventListener("abort", stop);
      call.once("close", () => signal.removeEventListener("abort", stop));
      call.once("response", resolve);
      call.on("error", reject);
      // Without it, a server that is not sent anything for long may give up on the connection unseen.
      call.setSocketKeepAlive(true, 30_000);
      call.end(request.body);
    });
    // The next request may do better with a token that was renewed meanwhile.
    if (response.statusCode === 401) this.#credentials.forget();
    return response;
  }

  close(): void {
    this.#agents.close();
  }
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
  const message = `server: must be a URL as https://host:6443, found ${JSON.stringify(server)}`;
  throw new KubeError("KUBE_INPUT_INVALID", message, { path: "server" });
}
