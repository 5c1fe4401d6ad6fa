import { createConnection } from "node:net";
import type { Duplex } from "node:stream";

/** Connects to a guest's socket; rejects if nobody listens, or with the signal's reason. */
export type GuestDialer = (signal: AbortSignal) => Promise<Duplex>;

/** Dials a unix socket by its path. */
export function dialUnixSocket(path: string): GuestDialer {
  return async (signal) =>
    await new Promise((resolve, reject) => {
      const socket = createConnection({ path });
      const giveUp = (): void => void socket.destroy(signal.reason);
      const settle = (): void => signal.removeEventListener("abort", giveUp);
      socket.once("connect", () => {
        settle();
        socket.off("error", reject);
        resolve(socket);
      });
      socket.once("error", (error) => {
        settle();
        reject(error);
      });
      signal.addEventListener("abort", giveUp);
      if (signal.aborted) giveUp();
    });
}
