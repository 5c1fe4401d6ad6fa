import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describeError, type Observers } from "@virtkit/api/observe";

/** What {@link startMetricsServer} works with. */
export interface MetricsServerOptions extends Observers {
  /** Returns the metrics in Prometheus text format. */
  readonly collect: () => Promise<string>;
  /** What is wrong, for a liveness probe; empty if all is well. Default: nothing. */
  readonly problems?: () => readonly string[];
  /** Default: all addresses. */
  readonly address?: string;
  readonly port: number;
  /** Concurrent scrapes; more are answered with 503. Default 3, as in KubeVirt. */
  readonly scrapes?: number;
}

/** A running server. */
export type MetricsServer = AsyncDisposable & { readonly port: number };

const limits = { connections: 32, header: 10_000, request: 10_000, headerBytes: 16 * 1024 };

/** Serves `/metrics` and `/healthz` of a node agent, and nothing else. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { address, port } = options;
  const bounds = {
    headersTimeout: limits.header,
    requestTimeout: limits.request,
    maxHeaderSize: limits.headerBytes,
  };
  const server = createServer(bounds, answering(options));
  server.maxConnections = limits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(address ? { host: address } : {}) }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

function answering({ collect, problems, scrapes = 3, log }: MetricsServerOptions): Answering {
  let busy = 0;
  const scrape = async (): Promise<readonly [number, string]> => {
    if (busy >= scrapes) return [503, `${busy} scrapes are running\n`];
    busy++;
    try {
      return [200, await collect()];
    } catch (error) {
      log?.warn({ error: describeError(error) }, "metrics could not be collected");
      return [500, "metrics could not be collected\n"];
    } finally {
      busy--;
    }
  };
  const health = (): readonly [number, string] => {
    const found = problems?.() ?? [];
    return found.length === 0 ? [200, "ok\n"] : [500, `${found.join("\n")}\n`];
  };
  return (request, response) => {
    const answer = async (): Promise<readonly [number, string]> => {
      if (request.method !== "GET") return [405, "only GET\n"];
      if (request.url === "/metrics") return await scrape();
      return request.url === "/healthz" ? health() : [404, "not here\n"];
    };
    void answer().then(([code, text]) => {
      response.writeHead(code, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
      response.end(text);
    });
  };
}
