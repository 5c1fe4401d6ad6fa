import type { Duplex } from "node:stream";
import type { Clock } from "@virtkit/api/clock";
import { every } from "@virtkit/api/clock";
import { FrameEdges, pingFrame } from "./frame-edges.ts";

/** How two sockets are joined. */
export interface RelayOptions {
  readonly clock: Clock;
  /** Milliseconds between pings to the client, so that nothing on the path considers it dead. */
  readonly pingInterval: number;
  /** Ends both. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Joins a client and a node agent that have agreed on a WebSocket, until either ends. Bytes are passed on as they
 * arrive; while one side is slow, nothing is read from the other. Pings go to the client between two frames; its
 * answers go to the node agent, which ignores them.
 */
export function relay(client: Duplex, node: Duplex, options: RelayOptions): Promise<void> {
  const edges = new FrameEdges();
  let pingDue = false;
  const ping = (): void => {
    if (!edges.atEdge) {
      pingDue = true;
    } else if (client.writableLength === 0) {
      pingDue = false;
      client.write(pingFrame);
    }
  };
  return new Promise((resolve) => {
    const stopPings = every(options.clock, options.pingInterval, ping);
    const end = (): void => {
      stopPings();
      options.signal?.removeEventListener("abort", cut);
      resolve();
    };
    const cut = (): void => {
      client.destroy();
      node.destroy();
    };
    options.signal?.addEventListener("abort", cut, { once: true });
    let open = 2;
    const closed = (other: Duplex) => (): void => {
      // What it sent before is still written; the rest has no reader, and is read only to see the end.
      other.end();
      other.resume();
      open -= 1;
      if (open === 0) end();
      else lingering(other, options.clock);
    };
    client.once("close", closed(node));
    node.once("close", closed(client));
    client.on("error", () => client.destroy());
    node.on("error", () => node.destroy());
    client.once("end", () => node.end());
    node.once("end", () => client.end());
    client.on("data", (chunk: Buffer) => forward(chunk, client, node));
    node.on("data", (chunk: Buffer) => {
      edges.pass(chunk);
      forward(chunk, node, client);
      if (pingDue) ping();
    });
  });
}

/** Milliseconds that a side has to accept what was sent to it after the other has ended. */
const lingerTime = 5000;

function lingering(socket: Duplex, clock: Clock): void {
  const stop = every(clock, lingerTime, () => {
    stop();
    socket.destroy();
  });
  socket.once("close", stop);
}

function forward(chunk: Buffer, from: Duplex, to: Duplex): void {
  if (to.writableEnded || to.destroyed) return;
  if (to.write(chunk)) return;
  from.pause();
  to.once("drain", () => from.resume());
}
