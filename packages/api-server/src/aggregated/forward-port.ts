import { createSocket } from "node:dgram";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { parseIp } from "@virtkit/api/addresses";
import { type Clock, every } from "@virtkit/api/clock";
import { maxStreamMessage, streamCloseCodes } from "@virtkit/api/subresources/node";
import type { PlannedDial } from "@virtkit/api/subresources/server";
import { createWebSocketStream, type WebSocket } from "ws";
import { ApiServerError } from "../api-server-error.ts";

/** A guest's port that answers. */
export interface GuestPort {
  /** Joins it with a client until either ends. */
  join(client: WebSocket): Promise<void>;
  close(): void;
}

/** Milliseconds that a guest has to answer. */
const dialTimeout = 10_000;

/**
 * Why an address is not dialled for a client. What a guest says about itself must not lead into this Pod, to its
 * node's services, or to everybody.
 */
export function addressFault(address: string): string | undefined {
  const octets = parseIp(address);
  if (!octets) return "it is not an IP address";
  const v4 = octets.length === 4 ? octets : mapped(octets);
  if (v4) {
    const [a = 0, b = 0] = v4;
    if (a === 127 || a === 0) return "it is an address of this host";
    if (a === 169 && b === 254) return "it is a link-local address";
    return a >= 224 ? "it is not the address of a single host" : undefined;
  }
  const [a = 0, b = 0] = octets;
  if (octets.slice(0, 15).every((octet) => octet === 0)) return "it is an address of this host";
  if (a === 0xfe && (b & 0xc0) === 0x80) return "it is a link-local address";
  return a === 0xff ? "it is not the address of a single host" : undefined;
}

/** The IPv4 address in `::ffff:a.b.c.d`. */
function mapped(octets: readonly number[]): readonly number[] | undefined {
  const prefix = octets.slice(0, 10).every((octet) => octet === 0);
  return prefix && octets[10] === 0xff && octets[11] === 0xff ? octets.slice(12) : undefined;
}

/** Dials the port of a guest. Rejects if nobody listens. */
export async function dialGuest(
  { protocol, address, port }: PlannedDial,
  { clock, pingInterval }: { readonly clock: Clock; readonly pingInterval: number },
): Promise<GuestPort> {
  const pings = { clock, pingInterval };
  if (protocol === "udp") return udpPort(address, port, pings);
  const socket = connect({ host: address, port, noDelay: true, keepAlive: true });
  await new Promise<void>((resolve, reject) => {
    socket.setTimeout(dialTimeout, () => socket.destroy(new Error("it does not answer")));
    socket.once("connect", resolve);
    socket.once("error", (cause) => {
      const message = `port ${port} of the guest cannot be reached: ${cause.message}`;
      reject(new ApiServerError("API_SERVER_NODE_UNREACHABLE", message, { cause }));
    });
  });
  socket.setTimeout(0);
  return {
    join: (client) => joinTcp(client, socket, pings),
    close: () => void socket.destroy(),
  };
}

interface Pings {
  readonly clock: Clock;
  readonly pingInterval: number;
}

function joinTcp(client: WebSocket, guest: Duplex, pings: Pings): Promise<void> {
  const stop = keepAlive(client, pings);
  const stream = createWebSocketStream(client, { readableObjectMode: false });
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      resolve();
    };
    guest.on("error", () => guest.destroy());
    // The peer broke the protocol or is gone: `ws` closes it.
    stream.on("error", () => guest.destroy());
    guest.once("close", () => client.close(streamCloseCodes.ended));
    client.once("close", () => {
      guest.destroy();
      end();
    });
    stream.pipe(guest).pipe(stream);
  });
}

/** One datagram is one message, both ways. A slow client loses datagrams, as on a network. */
async function udpPort(address: string, port: number, pings: Pings): Promise<GuestPort> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.connect(port, address, resolve);
  });
  let isOpen = true;
  // The client's connection and its WebSocket end at different moments, and closing a socket twice throws.
  const close = (): void => {
    if (isOpen) socket.close();
    isOpen = false;
  };
  return {
    close,
    join: (client) =>
      new Promise((resolve) => {
        const stop = keepAlive(client, pings);
        const failed = (): void => client.close(streamCloseCodes.failed);
        // Including a port where nobody listens, which the guest's kernel reports.
        socket.on("error", failed);
        socket.on("message", (datagram) => {
          if (client.bufferedAmount < maxStreamMessage) client.send(datagram, { binary: true });
        });
        client.on("message", (data, isBinary) => {
          // Without a callback, a datagram that is too long goes unnoticed.
          if (isBinary && isOpen) socket.send(data as Buffer, (error) => error && failed());
        });
        client.once("close", () => {
          stop();
          close();
          resolve();
        });
      }),
  };
}

/** Unanswered pings after which a client counts as gone: a minute, with one ping per second as in KubeVirt. */
const mostUnanswered = 60;

function keepAlive(client: WebSocket, { clock, pingInterval }: Pings): () => void {
  let unanswered = 0;
  client.on("pong", () => {
    unanswered = 0;
  });
  // `ws` closes the client after an error, in bounded time. Cutting the connection here could lose the frame that
  // says why.
  client.on("error", () => {});
  return every(clock, pingInterval, () => {
    unanswered += 1;
    if (unanswered > mostUnanswered) client.terminate();
    else client.ping("keep alive");
  });
}
