import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that runs; disposal ends it. */
export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Answers a kubelet's probes over HTTP: `/healthz` with 200 while nothing is wrong, else with 503 and what is.
 *
 * @example
 * await using health = await serveHealth(() => controllers.problems(), { port: 8080 });
 */
export async function serveHealth(
  problems: () => readonly string[],
  { port }: { readonly port: number },
): Promise<HealthServer> {
  const limits = { requestTimeout: 5_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 };
  const server = createServer({ ...limits, maxHeaderSize: 8_192 }, (request, response) => {
    const found = request.url === "/healthz" ? problems() : undefined;
    const status = found === undefined ? 404 : found.length === 0 ? 200 : 503;
    response.writeHead(status, { "content-type": "text/plain" });
    response.end(found?.length ? found.join("\n").slice(0, 4_096) : "ok");
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
