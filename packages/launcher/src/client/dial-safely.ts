import { Socket } from "node:net";
import type { SafePath } from "@virtkit/host-primitives/safe-path";
import { connectUnix } from "@virtkit/host-primitives/sockets";
import type { LauncherDialer } from "./connect-launcher.ts";

/**
 * A dialer for a socket in a launcher's own file system, which was opened without following links.
 * Even if something else replaces it meanwhile, the connection goes to the opened socket.
 *
 * @example
 * using root = launcher.openRoot();
 * using socket = root.resolve(names().sockets.launcher, "socket");
 * await using guest = await connectLauncher({ dial: dialSafely(socket) });
 */
export function dialSafely(socket: SafePath): LauncherDialer {
  return async ({ signal }) => {
    const connection = await connectUnix(socket, { signal });
    return new Socket({ fd: connection.release(), readable: true, writable: true });
  };
}
