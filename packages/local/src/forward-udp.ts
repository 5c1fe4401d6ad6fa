import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError } from "@virtkit/api/observe";
import type { ForwardOptions, ForwardTarget } from "./forward-tcp.ts";

/** Limits for what strangers can cause. */
export interface UdpLimits {
  /** Peers that are remembered at a time; the one that was silent longest makes room. */
  readonly peers: number;
  /** Milliseconds of silence after which a peer is forgotten; conntrack's figure for a stream. */
  readonly idle: number;
}

const defaults: UdpLimits = { peers: 256, idle: 120_000 };

/**
 * Forwards datagrams to the guest, and its answers to the peer that asked, until the socket is
 * closed.
 */
export function forwardUdp(
  socket: Socket,
  target: ForwardTarget,
  { peers: most, idle }: UdpLimits = defaults,
  { clock = realClock, log, metrics }: ForwardOptions = {},
): void {
  /** By address and port; in the order in which they last spoke. */
  const peers = new Map<string, Peer>();
  const forget = (key: string): void => {
    peers.get(key)?.close();
    peers.delete(key);
  };
  socket.on("error", (error) => {
    log?.warn({ error: describeError(error) }, "a datagram was not received");
  });
  socket.once("close", () => {
    for (const key of [...peers.keys()]) forget(key);
  });
  socket.on("message", (data, from) => {
    const key = `${from.address} ${from.port}`;
    const known = peers.get(key);
    if (!known) metrics?.count("forwarded_peers");
    const peer = known ?? new Peer(socket, from, target, clock);
    peers.delete(key);
    const [oldest] = peers.keys();
    if (peers.size >= most && oldest !== undefined) forget(oldest);
    peers.set(key, peer);
    peer.send(data, idle, () => {
      if (peers.get(key) === peer) forget(key);
    });
  });
}

/** One stranger's socket towards the guest. */
class Peer {
  readonly #guest: Socket;
  readonly #target: ForwardTarget;
  readonly #clock: Clock;
  #timer: unknown;

  constructor(outside: Socket, { address, port }: RemoteInfo, target: ForwardTarget, clock: Clock) {
    this.#clock = clock;
    this.#target = target;
    this.#guest = createSocket("udp4");
    // A guest that refuses a datagram causes an error; for the sender it is lost, as any may be.
    this.#guest.on("error", () => undefined);
    this.#guest.on("message", (data, from) => {
      if (from.address !== target.address || from.port !== target.port) return;
      outside.send(data, port, address, () => undefined);
    });
  }

  send(data: Buffer, idle: number, onIdle: () => void): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(onIdle, idle);
    this.#guest.send(data, this.#target.port, this.#target.address, () => undefined);
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#guest.close();
  }
}
