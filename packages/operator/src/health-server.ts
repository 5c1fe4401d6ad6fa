import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A running server; disposing of it stops it. */
export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

/** Options of {@link serveHealth}. */
export interface HealthServerOptions {
  readonly port: number;
  /** The content of `/metrics`, in the text format of Prometheus. Default: there is no such path. */
  readonly metrics?: () => Promise<string>;
}

/**
 * Answers a kubelet's probes over HTTP: `/healthz` with 200 while nothing is wrong, otherwise with 503 and the
 * problems. Also serves `/metrics` if they are given.
 *
 * @example
 * await using health = await serveHealth(() => controllers.problems(), { port: 8080 });
 */
export async function serveHealth(
  problems: () => readonly string[],
  { port, metrics }: HealthServerOptions,
): Promise<HealthServer> {
  const limits = { requestTimeout: 5_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 };
  const answer = async (url: string | undefined): Promise<readonly [number, string]> => {
    if (url === "/metrics" && metrics) return [200, await metrics()];
    if (url !== "/healthz") return [404, "not here"];
    const found = problems();
    return found.length === 0 ? [200, "ok"] : [503, found.join("\n").slice(0, 4_096)];
  };
  const server = createServer({ ...limits, maxHeaderSize: 8_192 }, (request, response) => {
    void answer(request.url)
      .catch((error: unknown) => [500, String(error).slice(0, 4_096)] as const)
      .then(([status, text]) => {
        response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
        response.end(text);
      });
  });
  server.maxConnections = 16;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
