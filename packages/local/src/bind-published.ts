import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer, isIPv6, type Server } from "node:net";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { hostPort, listenAddresses, type PublishedPort } from "./published-port.ts";

/** A socket that listens for a published port. */
export type Bound =
  | { readonly protocol: "tcp"; readonly server: Server; readonly port: PublishedPort }
  | { readonly protocol: "udp"; readonly socket: UdpSocket; readonly port: PublishedPort };

/**
 * Listens on every address of every published port, or on none.
 *
 * @throws NodeAgentError that names the address if one is unavailable.
 */
export async function bindPublished(
  published: readonly PublishedPort[],
): Promise<readonly Bound[]> {
  const all: Bound[] = [];
  try {
    for (const port of published) {
      for (const address of listenAddresses(port)) {
        const bound = await bind(port, address);
        if (bound) all.push(bound);
      }
    }
    return all;
  } catch (error) {
    await closeBound(all);
    throw error;
  }
}

/** Gives the ports back. */
export async function closeBound(all: readonly Bound[]): Promise<void> {
  await Promise.all(
    all.map(
      async (bound) =>
        await new Promise<void>((resolve) => {
          if (bound.protocol === "tcp") bound.server.close(() => resolve());
          else bound.socket.close(() => resolve());
        }),
    ),
  );
}

/** Undefined if the host has no loopback of the family and nobody asked for it explicitly. */
async function bind(port: PublishedPort, address: string): Promise<Bound | undefined> {
  try {
    return port.protocol === "tcp" ? await bindTcp(port, address) : await bindUdp(port, address);
  } catch (error) {
    const { code = "", message: found } = error as NodeJS.ErrnoException;
    const isAbsent = code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT";
    if (isAbsent && port.address === undefined && isIPv6(address)) return undefined;
    const place = hostPort(address, port.host);
    const problem =
      code === "EADDRINUSE"
        ? `${place} of this host is in use; choose another port: --publish PORT:${port.guest}`
        : isAbsent
          ? `${address} is not an address of this host; "ip address" lists them`
          : `${place} cannot be opened: ${found}`;
    const message = `publish: ${problem}`;
    throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "publish", cause: error });
  }
}

async function bindTcp(port: PublishedPort, address: string): Promise<Bound> {
  // Each family is opened separately: `::` must not include IPv4 addresses.
  const options = { host: address, port: port.host, ipv6Only: true };
  const server = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, resolve);
  });
  server.removeAllListeners("error");
  // Until someone takes over the server: an unknown connection would keep it from closing.
  server.on("connection", (early) => early.destroy());
  return { protocol: "tcp", server, port };
}

async function bindUdp(port: PublishedPort, address: string): Promise<Bound> {
  const socket = createSocket({
    type: isIPv6(address) ? "udp6" : "udp4",
    ipv6Only: isIPv6(address),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind({ address, port: port.host, exclusive: true }, resolve);
    });
  } catch (error) {
    socket.close();
    throw error;
  }
  socket.removeAllListeners("error");
  return { protocol: "udp", socket, port };
}
