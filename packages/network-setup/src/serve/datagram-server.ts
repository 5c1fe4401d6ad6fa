import { createSocket, type RemoteInfo } from "node:dgram";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { OwnedFd } from "@virtkit/host-primitives";
import type { Endpoint } from "../dhcp4/dhcp4-reply.ts";
import { type GuestServer, newCounters } from "./server-counters.ts";

/** The result for a datagram. */
export type Outcome =
  | { readonly payload: Uint8Array; readonly to: Endpoint }
  | "ignored"
  | "malformed";

/** Bytes that may wait for the kernel; above that, answers are dropped and clients ask again. */
const maxQueuedBytes = 256 * 1024;

/**
 * Serves a UDP socket that someone else opened and bound, perhaps in another network namespace and
 * with more privileges than this process has. The server takes over the socket. `answer` must not
 * throw.
 */
export async function serveDatagrams(
  socket: OwnedFd,
  type: "udp4" | "udp6",
  answer: (datagram: Uint8Array, from: Endpoint) => Outcome,
  { log, metrics }: Observers = {},
): Promise<GuestServer> {
  const family = type === "udp4" ? 4 : 6;
  const server = createSocket({
    type,
    // Addresses are numeric here: there is nothing to resolve.
    lookup: (host, _, callback) => callback(null, host, family),
  });
  const { counters, count } = newCounters(type === "udp4" ? "dhcp4" : "dhcp6", metrics);
  server.on("message", (datagram: Buffer, { address, port }: RemoteInfo) => {
    count("received");
    // The zone is the link's name in this process's namespace, which may be a different one.
    const from = { address: address.replace(/%.*/, ""), port };
    const outcome = answer(datagram, from);
    if (typeof outcome === "string") {
      count(outcome);
      return;
    }
    if (server.getSendQueueSize() > maxQueuedBytes) {
      count("failed");
      return;
    }
    const { payload, to } = outcome;
    server.send(payload, to.port, to.address, (error) => {
      count(error ? "failed" : "answered");
    });
  });
  server.on("error", (error) => {
    count("failed");
    log?.warn({ type, error: describeError(error) }, "a server of the guest's network failed");
  });
  await new Promise<void>((resolve) => server.bind({ fd: socket.release() }, resolve));
  return {
    counters,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
