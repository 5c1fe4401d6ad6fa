import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { HttpClient, type HttpClientOptions } from "../client/http-client.ts";

/** What a server does with a request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** An HTTP server on loopback for one test, which gives the answers that the test sets, and a client of it. */
export async function localServer(
  handle: Handler,
  options: HttpClientOptions = {},
): Promise<{ client: HttpClient; url: string; requests: string[]; connections: () => number }> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handle(request, response);
  });
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new HttpClient({ server: url, credentials: async () => ({}) }, options);
  onTestFinished(async () => {
    client.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, url, requests, connections: () => connections };
}

/** Answers with JSON. */
export function answer(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** A Kubernetes `Status` of a failure. */
export function failure(code: number, reason: string, details?: unknown): unknown {
  return {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code,
    reason,
    message: `it is ${reason}`,
    details,
  };
}
