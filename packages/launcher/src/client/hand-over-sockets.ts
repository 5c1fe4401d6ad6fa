import { type Clock, type UntilOptions, until } from "@virtkit/api/clock";
import { hasErrno, type OwnedFd } from "@virtkit/host-primitives";
import type { SafePath } from "@virtkit/host-primitives/safe-path";
import { connectUnix, receiveDescriptors, sendDescriptors } from "@virtkit/host-primitives/sockets";
import { fields, flag, text } from "../channel/check.ts";
import { LauncherError } from "../launcher-error.ts";
import { type Handover, writeHandover } from "./handover-message.ts";

/** Limits of {@link handOverSockets}. */
export interface HandOverOptions {
  /** Milliseconds for each of the networks. Default 10,000. */
  readonly timeout?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

type Patience = Required<Pick<UntilOptions, "timeout">> & Pick<UntilOptions, "clock" | "signal">;

const checkReply = fields({ success: flag }, { message: text(65_536), code: text(64) });

/**
 * Gives a launcher the sockets of its guest's DHCP servers and router, which `openGuestSockets`
 * opened in the Pod's network. The sockets are closed here in any case. For a network that the
 * launcher already serves, new sockets replace the old ones; `LauncherClient.info` lists the served
 * networks, so that a restarted agent need not open them again.
 *
 * Rejects with a `LauncherError`, or a `HostError` if nobody listens.
 *
 * @example
 * using socket = root.resolve(handoverSocket(names()), "socket");
 * await handOverSockets(socket, [{ network: "default", sockets, servers, identity }]);
 */
export async function handOverSockets(
  socket: SafePath,
  handovers: readonly Handover[],
  { timeout = 10_000, clock, signal }: HandOverOptions = {},
): Promise<void> {
  try {
    using connection = await connectUnix(socket, { type: "sequential", ...(signal && { signal }) });
    for (const handover of handovers) {
      await handOver(connection, handover, { timeout, clock, signal });
    }
  } finally {
    for (const { sockets } of handovers) closeAll(sockets);
  }
}

async function handOver(
  connection: OwnedFd,
  handover: Handover,
  patience: Patience,
): Promise<void> {
  const { data, descriptors } = writeHandover(handover);
  sendDescriptors(connection, data, descriptors);
  const reply = await received(connection, handover.network, patience);
  const { success, message = "it does not say why" } = checkReply(reply, "reply");
  if (success) return;
  const why = `the launcher does not serve the network ${handover.network}: ${message}`;
  throw new LauncherError("LAUNCHER_FAILED", why, { path: handover.network });
}

async function received(
  connection: OwnedFd,
  network: string,
  { timeout, clock, signal }: Patience,
): Promise<unknown> {
  const data = await until(() => tryReceive(connection), { clock, interval: 5, timeout, signal });
  if (!data) {
    const text = `the launcher did not accept the sockets of the network ${network} in ${timeout} ms`;
    throw new LauncherError("LAUNCHER_CLOSED", text, { path: network });
  }
  if (data.length === 0) {
    const text = `the launcher closed the connection without accepting the network ${network}`;
    throw new LauncherError("LAUNCHER_CLOSED", text, { path: network });
  }
  return parsed(data, network);
}

function parsed(data: Buffer, network: string): unknown {
  try {
    return JSON.parse(data.toString("utf8"));
  } catch {
    // Its reply is not repeated: it may be anything.
    const text = "the launcher's reply to a handover is not JSON";
    throw new LauncherError("LAUNCHER_PROTOCOL", text, { path: network });
  }
}

function tryReceive(connection: OwnedFd): Buffer | undefined {
  try {
    const { data, descriptors } = receiveDescriptors(connection);
    for (const descriptor of descriptors) descriptor.close();
    return data;
  } catch (error) {
    if (hasErrno(error, "EAGAIN")) return undefined;
    throw error;
  }
}

function closeAll(sockets: Handover["sockets"]): void {
  for (const socket of [sockets.dhcp4, sockets.dhcp6, sockets.router]) socket?.close();
}
