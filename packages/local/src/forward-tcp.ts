import { connect, type Server, type Socket } from "node:net";
import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";

/** Where connections are forwarded to. */
export interface ForwardTarget {
  readonly address: string;
  readonly port: number;
}

/** Clock and observers of a forwarder. */
export interface ForwardOptions extends Observers {
  readonly clock?: Clock;
}

/** Limits for what strangers can cause. */
export interface TcpLimits {
  /** Connections at a time; more are refused. */
  readonly connections: number;
  /** Milliseconds within which the guest must answer. */
  readonly connectTimeout: number;
}

/** Two sockets and what waits in them: 256 connections hold at most some 40 MiB. */
const defaults: TcpLimits = { connections: 256, connectTimeout: 10_000 };

/** After this, a silent peer is probed for a sign of life. */
const keepAlive = 60_000;

/**
 * Forwards connections to the guest, each direction with its own close, until the server is closed.
 */
export function forwardTcp(
  server: Server,
  target: ForwardTarget,
  { connections, connectTimeout }: TcpLimits = defaults,
  { clock = realClock, log, metrics }: ForwardOptions = {},
): void {
  server.maxConnections = connections;
  // A failed accept, for example without free descriptors, ends that connection and not the
  // service.
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

/**
 * A reset on one side becomes one on the other: an orderly end would tell the peer that it has
 * everything.
 */
function endTogether(one: Socket, other: Socket): void {
  // Told to the other side, below.
  one.on("error", () => undefined);
  one.once("close", (hadError) => {
    if (hadError || !one.readableEnded) other.resetAndDestroy();
  });
}
