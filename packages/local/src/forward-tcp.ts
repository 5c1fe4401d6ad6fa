import { connect, type Server, type Socket } from "node:net";
import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";

/** Where connections are passed on to. */
export interface ForwardTarget {
  readonly address: string;
  readonly port: number;
}

/** How a forwarder keeps time, and whom it tells. */
export interface ForwardOptions extends Observers {
  readonly clock?: Clock;
}

/** How far a stranger can drive it. */
export interface TcpLimits {
  /** Connections at a time; more are refused. */
  readonly connections: number;
  /** Milliseconds that the guest has to answer. */
  readonly connectTimeout: number;
}

/** Two sockets and what waits in them: 256 connections hold at most some 40 MiB. */
const defaults: TcpLimits = { connections: 256, connectTimeout: 10_000 };

/** After this a peer that has gone without a word is asked for a sign of life. */
const keepAlive = 60_000;

/** Passes connections on to the guest, each end with its own close, until the server is closed. */
export function forwardTcp(
  server: Server,
  target: ForwardTarget,
  { connections, connectTimeout }: TcpLimits = defaults,
  { clock = realClock, log, metrics }: ForwardOptions = {},
): void {
  server.maxConnections = connections;
  // A failed accept, as for want of descriptors, ends that connection and not the service.
  server.on("error", (error) => {
    log?.warn({ error: describeError(error) }, "a connection was not accepted");
  });
  server.on("drop", () => metrics?.count("forwarded_connections", { outcome: "refused" }));
  server.removeAllListeners("connection");
  server.on("connection", (client) => {
    metrics?.count("forwarded_connections", { outcome: "accepted" });
    const guest = connect({ host: target.address, port: target.port, allowHalfOpen: true });
    const late = clock.setTimeout(() => guest.destroy(), connectTimeout);
    guest.once("connect", () => {
      clock.clearTimeout(late);
      guest.setKeepAlive(true, keepAlive);
    });
    guest.once("close", () => clock.clearTimeout(late));
    client.setKeepAlive(true, keepAlive);
    endTogether(client, guest);
    endTogether(guest, client);
    client.pipe(guest);
    guest.pipe(client);
  });
}

/** A reset on one side is one on the other: an orderly end would tell the peer that it has everything. */
function endTogether(one: Socket, other: Socket): void {
  // Told to the other side, below.
  one.on("error", () => undefined);
  one.once("close", (hadError) => {
    if (hadError || !one.readableEnded) other.resetAndDestroy();
  });
}
