import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { OwnedFd } from "@virtkit/host-primitives";
import { listenTcp, type TcpListener } from "@virtkit/host-primitives/sockets";
import { migrationIdentity, peerIdentity, serverTlsOptions } from "@virtkit/pki";
import { type Answer, parseGreeting, readLine, versionAnswer, writeAnswer } from "./greeting.ts";
import { joinEnds } from "./join-ends.ts";
import { peerRefused } from "./peer-refused.ts";
import { ProxyBase, type RunningProxy } from "./proxy-base.ts";
import { keepAliveOf } from "./proxy-limits.ts";
import { type ChannelKind, checkChannels, type ProxyOptions } from "./proxy-options.ts";
import { AcceptedEnd, plainEnd } from "./stream-end.ts";
import { Tickets, ticketBytes } from "./tickets.ts";

/** Where streams of one kind end on the target's host. */
export interface TargetChannel {
  readonly name: string;
  readonly kind: ChannelKind;
  /**
   * Connects to the server behind it, such as a socket in the target's sandbox, with `allowHalfOpen`. The dialler
   * decides what it follows on the way: go through an open directory (`connectUnix` of `host-primitives/sockets`)
   * where a launcher could have placed a link.
   */
  readonly dial: (options: { readonly signal: AbortSignal }) => Promise<Socket>;
}

/** How a target's proxy is started. */
export interface TargetProxyOptions extends ProxyOptions {
  /** The numeric address to listen on. */
  readonly address: string;
  /** Default: the kernel chooses. */
  readonly controlPort?: number;
  /** Default: the kernel chooses. */
  readonly dataPort?: number;
  readonly channels: readonly TargetChannel[];
}

/** A listening proxy. */
export interface TargetProxy extends RunningProxy {
  readonly controlPort: number;
  readonly dataPort: number;
}

/** Listens for the source's proxy of one migration, and for nobody else. Fails if a port is not available. */
export async function startTargetProxy(options: TargetProxyOptions): Promise<TargetProxy> {
  const proxy = new Target(options);
  await proxy.start();
  return proxy;
}

class Target implements TargetProxy {
  readonly #options: TargetProxyOptions;
  readonly #channels: ReadonlyMap<string, TargetChannel>;
  readonly #base: ProxyBase;
  readonly #tickets: Tickets<TargetChannel>;
  readonly #server: Server;
  readonly #entering = new Map<string, (outcome: TLSSocket | Error) => void>();
  #data: TcpListener | undefined;

  constructor(options: TargetProxyOptions) {
    this.#options = options;
    this.#channels = checkChannels(options.channels);
    this.#server = createServer({ ...serverTlsOptions(options.credentials), allowHalfOpen: true });
    this.#base = new ProxyBase(options);
    this.#tickets = new Tickets(this.#base.limits, this.#base.clock);
  }

  get controlPort(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  get dataPort(): number {
    return this.#data?.port ?? 0;
  }

  get streams(): number {
    return this.#base.streams.size;
  }

  async start(): Promise<void> {
    this.#base.atEnd(() => void this.#tickets.close());
    await this.#base.begin(async () => {
      await this.#listenForControl();
      this.#listenForData();
    });
  }

  close(): Promise<void> {
    return this.#base.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #listenForControl(): Promise<void> {
    const { address, controlPort = 0 } = this.#options;
    const server = this.#server;
    // A failed accept, for example for lack of descriptors, ends that connection and not the service.
    server.on("error", (error) => this.#base.tell("a control connection was not accepted", error));
    server.on("connection", (raw) => this.#greet(raw));
    server.on("secureConnection", (socket) => {
      const enter = this.#entering.get(endpoint(socket));
      if (enter) enter(socket);
      else socket.destroy();
    });
    server.on("tlsClientError", (error, socket) => {
      this.#entering.get(endpoint(socket))?.(error);
      socket.destroy();
    });
    this.#base.atEnd(() => new Promise((resolve) => server.close(resolve)));
    server.listen(controlPort, address);
    await once(server, "listening");
  }

  #listenForData(): void {
    const { address, dataPort = 0 } = this.#options;
    const listener = listenTcp({ address, port: dataPort });
    this.#data = listener;
    this.#base.atEnd(() => void listener.close());
    this.#base.run("data connections are no longer accepted", async () => {
      for await (const connection of listener.connections({ signal: this.#base.ending })) {
        this.#receive(connection);
      }
    });
  }

  /** A control connection, from its first byte on. */
  #greet(raw: Socket): void {
    const key = endpoint(raw);
    // The close reports it.
    raw.on("error", () => undefined);
    this.#base.run("a control connection failed", () =>
      this.#base.within(
        () => raw.destroy(),
        async (signal) => {
          const socket = await new Promise<TLSSocket>((resolve, reject) => {
            const fail = (why: string): void =>
              reject(peerRefused("greeting", `failed the TLS handshake: ${why}`));
            this.#entering.set(key, (outcome) => {
              if (outcome instanceof Error) fail(outcome.message);
              else resolve(outcome);
            });
            // Node closes it silently if OpenSSL does not trust the certificate.
            raw.once("close", () =>
              fail("it disconnected, or its certificate has expired or comes from another CA"),
            );
          }).finally(() => this.#entering.delete(key));
          await this.#attend(socket, signal);
        },
      ),
    );
  }

  async #attend(socket: TLSSocket, signal: AbortSignal): Promise<void> {
    const { uid, credentials, now } = this.#options;
    // The close reports it.
    socket.on("error", () => undefined);
    try {
      const expected = migrationIdentity(uid, "source");
      peerIdentity(socket, credentials, expected, now ? { now } : {});
      const line = await readLine(socket);
      const other = versionAnswer(line);
      if (other) return void answer(socket, other);
      const greeting = parseGreeting(line);
      if (!greeting) throw peerRefused("greeting", "did not say what its connection is for");
      if (greeting.wants === "hello") return void answer(socket, { ok: true });
      const channel = this.#channels.get(greeting.channel);
      const isData = greeting.wants === "ticket";
      const kind = isData ? "data" : "control";
      if (!channel || (channel.kind === "data") !== isData)
        throw peerRefused("channel", `asked for ${kind} ${greeting.channel}, which is not offered`);
      if (!isData) await this.#join(socket, channel, signal);
      else this.#admit(socket, channel);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  #admit(socket: TLSSocket, channel: TargetChannel): void {
    const ticket = this.#base.streams.isFull ? undefined : this.#tickets.issue(channel);
    answer(socket, ticket ? { ok: true, ticket } : { ok: false, reason: "too many streams" });
  }

  async #join(socket: TLSSocket, channel: TargetChannel, signal: AbortSignal): Promise<void> {
    const { streams } = this.#base;
    if (streams.isFull) return void answer(socket, { ok: false, reason: "too many streams" });
    let inner: Socket;
    try {
      inner = await this.#dial(channel, signal);
    } catch (error) {
      answer(socket, { ok: false, reason: `${channel.name} does not exist` });
      throw error;
    }
    socket.write(writeAnswer({ ok: true }));
    streams.add(channel.name, joinEnds(plainEnd(socket), plainEnd(inner)));
  }

  /** A data connection, from its first byte on. */
  #receive(connection: OwnedFd): void {
    const end = new AcceptedEnd(connection, { headBytes: ticketBytes });
    const { socket } = end;
    this.#base.run("a data connection failed", () =>
      this.#base.within(
        () => socket.destroy(),
        async (signal) => {
          try {
            const ticket = await end.readHead();
            const channel = ticket && this.#tickets.take(ticket);
            if (!channel) throw peerRefused("ticket", "did not show a valid ticket");
            const { streams } = this.#base;
            if (streams.isFull) throw peerRefused("ticket", "opened more streams than the limit");
            socket.setNoDelay(true);
            socket.setKeepAlive(true, keepAliveOf(this.#base.limits));
            streams.add(channel.name, joinEnds(end, plainEnd(await this.#dial(channel, signal))));
          } catch (error) {
            socket.destroy();
            throw error;
          }
        },
      ),
    );
  }

  /** Does not wait for a dialler that ignores its signal; a late connection is closed. */
  async #dial(channel: TargetChannel, signal: AbortSignal): Promise<Socket> {
    const dialled = channel.dial({ signal });
    const tooLate = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason);
        // A dialler that fails late has nothing to report.
        dialled.then((socket) => socket.destroy()).catch(() => undefined);
      });
    });
    return (await Promise.race([dialled, tooLate])).pause();
  }
}

/** The last word on a connection that does not become a stream. */
function answer(socket: TLSSocket, said: Answer): void {
  socket.end(writeAnswer(said));
  // Reads to the peer's end, so that it closes cleanly.
  socket.resume();
}

/** TLS wraps a connection without saying which one. */
function endpoint({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
