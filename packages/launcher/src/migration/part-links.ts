import { connect, type Socket } from "node:net";
import { type Clock, realClock, until } from "@virtkit/api/clock";
import { describeError, type Observers, silentLog } from "@virtkit/api/observe";
import type { Libvirt } from "@virtkit/domain-manager/libvirt";
import type { ControlHandler } from "@virtkit/migration/handover";
import { LauncherError } from "../launcher-error.ts";

/** A part of a migration while it is open: what is closed with it, and when nobody follows it any more. */
interface OpenPart {
  readonly closing: (() => unknown)[];
  readonly over: AbortController;
}

/** Connects to the other side's launcher. */
export async function dial(path: string): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

/** Answers the other side's launcher until the part is closed. */
export async function listen(
  part: Pick<OpenPart, "closing">,
  path: string,
  handler: ControlHandler,
  { ControlServer }: typeof import("@virtkit/migration/handover"),
): Promise<void> {
  const server = await ControlServer.listen(path, handler);
  part.closing.push(() => server.close());
}

/** A connection to libvirtd, which starts with the launcher and may not answer yet. */
export async function reconnected(
  { closing, over }: OpenPart,
  {
    connect: attempt,
    clock = realClock,
    log = silentLog,
  }: Observers & { connect(): Promise<Libvirt>; readonly clock?: Clock },
): Promise<Libvirt> {
  const connected = async (): Promise<Libvirt | undefined> => {
    try {
      return await attempt();
    } catch (error) {
      log.warn({ error: describeError(error) }, "migration: libvirt does not answer yet");
      return undefined;
    }
  };
  const libvirt = await until(connected, { clock, interval: 1_000, signal: over.signal });
  if (!libvirt) throw new LauncherError("LAUNCHER_LIBVIRTD", "libvirt does not answer");
  closing.push(() => libvirt.close());
  return libvirt;
}
