import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect as connectSocket, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { LibvirtError } from "./libvirt-error.ts";
import type { LibvirtEndpoint } from "./libvirt-uri.ts";

/** What a {@link Dialer} is given besides the address. */
export interface DialOptions {
  readonly signal: AbortSignal;
  /** Handles incoming bytes. Must not keep the chunk, because its memory is reused immediately. */
  receive(chunk: Buffer): void;
}

/** Opens a byte stream to a daemon; resolves when the daemon is ready for the first message. */
export type Dialer = (endpoint: LibvirtEndpoint, options: DialOptions) => Promise<Duplex>;

/** Most replies are far smaller; a longer one comes in several pieces. */
const readBuffer = 65_536;

/** The dialer for real sockets. */
export const dial: Dialer = async (endpoint, { signal, receive }) => {
  // Without this Node allocates 64 KiB for each read.
  const buffer = Buffer.allocUnsafeSlow(readBuffer);
  const onread = {
    buffer,
    callback: (length: number): boolean => {
      receive(buffer.subarray(0, length));
      return true;
    },
  };
  switch (endpoint.transport) {
    case "unix": {
      const path = endpoint.paths.find((candidate) => existsSync(candidate)) ?? endpoint.paths[0];
      return await established(
        connectSocket({ path: path ?? "", onread }),
        "connect",
        path,
        signal,
      );
    }
    case "tcp": {
      const { host, port } = endpoint;
      const socket = connectSocket({ host, port, noDelay: true, onread });
      return await established(socket, "connect", `${host}:${port}`, signal);
    }
    case "tls":
      return (await dialTls(endpoint, signal)).on("data", receive);
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
  // Loaded on use: it loads all of OpenSSL into a process that mostly uses a unix socket.
  const { connect: connectTls } = await import("node:tls");
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
      `${path} cannot be read; set "pkipath" in the URI to another folder`,
      { cause },
    );
  }
}

/**
 * A daemon that accepts our certificate sends one byte with the value 1 before the first message.
 */
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
  // A later error must not end the process.
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
