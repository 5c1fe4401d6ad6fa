import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect as connectSocket, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { LibvirtError } from "./libvirt-error.ts";
import type { LibvirtEndpoint } from "./libvirt-uri.ts";

/** Opens a byte stream to a daemon; resolves when the daemon is ready for the first message. */
export type Dialer = (
  endpoint: LibvirtEndpoint,
  options: { readonly signal: AbortSignal },
) => Promise<Duplex>;

/** The dialer for real sockets. */
export const dial: Dialer = async (endpoint, { signal }) => {
  switch (endpoint.transport) {
    case "unix": {
      const path = endpoint.paths.find((candidate) => existsSync(candidate)) ?? endpoint.paths[0];
      return await established(connectSocket({ path: path ?? "" }), "connect", path, signal);
    }
    case "tcp": {
      const { host, port } = endpoint;
      const socket = connectSocket({ host, port, noDelay: true });
      return await established(socket, "connect", `${host}:${port}`, signal);
    }
    case "tls":
      return await dialTls(endpoint, signal);
  }
};

async function dialTls(
  { host, port, verify, files }: LibvirtEndpoint & { transport: "tls" },
  signal: AbortSignal,
): Promise<Duplex> {
  const [ca, cert, key] = await Promise.all([
    readPem(files.ca),
    readPem(files.certificate),
    readPem(files.key),
  ]);
  const socket = connectTls({ host, port, ca, cert, key, rejectUnauthorized: verify });
  socket.setNoDelay(true);
  await established(socket, "secureConnect", `${host}:${port}`, signal);
  await accepted(socket, `${host}:${port}`, signal);
  return socket;
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new LibvirtError(
      "LIBVIRT_CONNECT",
      `${path} cannot be read; "pkipath" in the URI names another folder`,
      { cause },
    );
  }
}

/** A daemon that takes our certificate says so with one byte of value 1 before the first message. */
async function accepted(socket: Socket, where: string, signal: AbortSignal): Promise<void> {
  await established(socket, "readable", where, signal);
  const byte: Buffer | null = socket.read(1);
  if (byte?.[0] === 1) return;
  socket.destroy();
  throw new LibvirtError("LIBVIRT_AUTH", `${where} did not accept this client's certificate`);
}

async function established<T extends Socket>(
  socket: T,
  event: string,
  where: string | undefined,
  signal: AbortSignal,
): Promise<T> {
  // An error after the one that settles must not end the process.
  socket.on("error", () => {});
  return await new Promise((resolve, reject) => {
    const settle = (error?: unknown): void => {
      socket.off(event, onEvent);
      socket.off("error", settle);
      socket.off("close", onClose);
      signal.removeEventListener("abort", onAbort);
      if (error === undefined) {
        resolve(socket);
      } else {
        socket.destroy();
        reject(unreachable(where, error));
      }
    };
    const onEvent = (): void => settle();
    const onClose = (): void => settle(new Error("the connection was closed"));
    const onAbort = (): void => settle(signal.reason);
    socket.on(event, onEvent);
    socket.on("error", settle);
    socket.on("close", onClose);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
}

function unreachable(where: string | undefined, cause: unknown): LibvirtError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new LibvirtError("LIBVIRT_CONNECT", `no libvirtd at ${where}: ${why}`, { cause });
}
