import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import {
  maxStreamMessage,
  nodeRoutes,
  parseNodeRequest,
  streamProtocol,
  vmiUidHeader,
} from "@virtkit/api/subresources/node";
import { apiServerIdentity, type Credentials, peerIdentity, serverTlsOptions } from "@virtkit/pki";
import { WebSocketServer } from "ws";

/** A request that reached a node. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly uid: string | undefined;
  readonly body: string;
}

/** The node's side of the contract: gives the answers that a test sets, and echoes streams. */
export class NodeSide implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  /** What it answers; by default what the route says. */
  answer: { readonly code: number; readonly body: string } | undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(
    credentials: Credentials,
    { host = "127.0.0.1", port = 0 }: { readonly host?: string; readonly port?: number } = {},
  ): Promise<NodeSide> {
    const server = createServer(serverTlsOptions(credentials));
    const side = new NodeSide(server);
    const sockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxStreamMessage,
      handleProtocols: (offered) => (offered.has(streamProtocol) ? streamProtocol : false),
    });
    server.on("secureConnection", (socket) => {
      try {
        peerIdentity(socket, credentials, apiServerIdentity());
      } catch {
        // Only the API server may call; nobody else gets an answer.
        socket.destroy();
      }
    });
    server.on("request", (request, response) => void side.#answer(request, response));
    server.on("upgrade", (request, socket, head) => {
      side.#note(request.method, request.url, request.headers[vmiUidHeader], "");
      if (side.answer) {
        socket.end(
          `HTTP/1.1 ${side.answer.code} No\r\ncontent-length: ${side.answer.body.length}\r\n\r\n${side.answer.body}`,
        );
        return;
      }
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on("message", (data, isBinary) => client.send(data, { binary: isBinary }));
        // A peer that breaks the protocol is closed by `ws`.
        client.on("error", () => {});
      });
    });
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    return side;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    this.#note(request.method, request.url, request.headers[vmiUidHeader], body);
    const routed = parseNodeRequest(request.method ?? "", request.url ?? "");
    const success = "code" in routed ? routed.code : nodeRoutes[routed.subresource].success;
    const { code, body: sent } = this.answer ?? { code: success, body: "" };
    response.writeHead(code).end(sent);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #note(method: string | undefined, target: string | undefined, uid: unknown, body: string): void {
    this.seen.push({ method: method ?? "", target: target ?? "", uid: String(uid), body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
