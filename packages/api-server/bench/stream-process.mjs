/**
 * Carries streams in its own process and reports how much memory that takes: the API server between clients and a
 * node, or bare pairs of TLS sockets between them.
 */
import { readFileSync } from "node:fs";
import { connect, createSecureContext, createServer } from "node:tls";
import { createApiServer } from "@virtkit/api-server";

const { kind, credentials, nodePort, vmi } = JSON.parse(process.argv[2] ?? "{}");

async function listen() {
  if (kind === "bare" || kind === "bare, one context") {
    const { certificate: cert, privateKey: key, authorities: ca } = credentials;
    const shared = kind === "bare" ? {} : { secureContext: createSecureContext({ cert, key, ca }) };
    const server = createServer({ cert, key }, (client) => {
      const node = connect({
        host: "127.0.0.1",
        port: nodePort,
        cert,
        key,
        ca,
        ...shared,
        checkServerIdentity: () => undefined,
      });
      client.on("error", () => node.destroy());
      node.on("error", () => client.destroy());
      client.pipe(node).pipe(client);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
  }
  const client = {
    get: async () => vmi,
    create: async () => ({ metadata: {}, status: { allowed: true } }),
  };
  const server = await createApiServer({
    client: /** @type {any} */ (client),
    credentials: async () => credentials,
    frontProxy: {
      authorities: credentials.authorities,
      allowedNames: [],
      headers: { user: ["x-remote-user"], uid: [], group: ["x-remote-group"], extraPrefix: [] },
    },
    nodeAgentAddress: async () => "127.0.0.1",
    nodeAgentPort: nodePort,
    bundles: false,
    listen: { port: 0, host: "127.0.0.1" },
    limits: { streams: { perVmi: 1000, inAll: 1000 }, ping: 60_000 },
  });
  return server.port;
}

function kilobytes() {
  global.gc?.();
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}

process.on("message", () => process.send?.({ kilobytes: kilobytes() }));
process.send?.({ port: await listen() });
