import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { hasErrno } from "@virtkit/host-primitives";
import { receiveDescriptors, sendDescriptors, socketPair } from "@virtkit/host-primitives/sockets";
import type { GuestServers } from "../plan/guest-part.ts";
import type { GuestIdentity } from "../serve/guest-servers.ts";
import type { GuestSockets } from "../serve/guest-sockets.ts";
import type { ServerCounters } from "../serve/server-counters.ts";

/** A process with uid 107 that serves a guest on sockets that were passed to it. */
export type Launcher = AsyncDisposable & {
  readonly uid: number;
  counters(): Promise<Record<string, ServerCounters>>;
};

/** Starts the process, passes the sockets, and closes them here. */
export async function startLauncher(
  sockets: GuestSockets,
  servers: GuestServers,
  identity: GuestIdentity,
): Promise<Launcher> {
  const [channel, other] = socketPair("sequential");
  const script = new URL("./launcher-child.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [script], {
    stdio: ["ignore", "inherit", "inherit", other.fd],
  });
  other.close();
  const names = (["dhcp4", "dhcp6", "router"] as const).filter((name) => sockets[name]);
  const passed = names.flatMap((name) => sockets[name] ?? []);
  const { serverMac } = sockets;
  const message = JSON.stringify({ names, serverMac, servers, identity });
  sendDescriptors(channel, Buffer.from(message), passed);
  for (const socket of passed) socket.close();
  const receive = async (): Promise<unknown> => {
    for (;;) {
      try {
        return JSON.parse(receiveDescriptors(channel).data.toString());
      } catch (error) {
        if (!hasErrno(error, "EAGAIN")) throw error;
        await sleep(10);
      }
    }
  };
  const { uid } = (await receive()) as { uid: number };
  return {
    uid,
    async counters() {
      sendDescriptors(channel, Buffer.from("counters"), []);
      return (await receive()) as Record<string, ServerCounters>;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      channel.close();
      child.kill("SIGKILL");
      await ended;
    },
  };
}
