import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import type { OwnedFd } from "@virtkit/host-primitives";
import type { Listener } from "@virtkit/host-primitives/sockets";
import { clientTlsOptions, migrationIdentity } from "@virtkit/pki";
import { MigrationError } from "../migration-error.ts";
import { type Answer, type Greeting, parseAnswer, readLine, writeGreeting } from "./greeting.ts";
import { joinEnds } from "./join-ends.ts";
import { peerRefused } from "./peer-refused.ts";
import { ProxyBase, type RunningProxy } from "./proxy-base.ts";
import { keepAliveOf } from "./proxy-limits.ts";
import { type ChannelKind, checkChannels, type ProxyOptions } from "./proxy-options.ts";
import { AcceptedEnd, plainEnd } from "./stream-end.ts";

/** Where streams of one kind begin on the source's host. */
export interface SourceChannel {
  readonly name: string;
  readonly kind: ChannelKind;
  /**
   * Where QEMU or libvirt connects: `listenUnix` of `host-primitives/sockets`. The proxy closes it at its end; the
   * socket's file stays with its creator.
   */
  readonly listener: Listener;
}

/** How a source's proxy is started. */
export interface SourceProxyOptions extends ProxyOptions {
  /** Where the target's proxy listens. */
  readonly target: {
    readonly host: string;
    readonly controlPort: number;
    readonly dataPort: number;
  };
  readonly channels: readonly SourceChannel[];
}

/** A proxy that has reached its peer. */
export type SourceProxy = RunningProxy;

/**
 * Carries every connection on its channels to the target's proxy. Before it accepts any, it checks that there is
 * one and that it is the target of this migration. Otherwise it fails with `MIGRATION_PEER_REFUSED` and the reason,
 * and closes the listeners.
 */
export async function startSourceProxy(options: SourceProxyOptions): Promise<SourceProxy> {
  const proxy = new Source(options);
  await proxy.start();
  return proxy;
}

class Source implements SourceProxy {
  readonly #options: SourceProxyOptions;
  readonly #base: ProxyBase;
  /** When the last connection of QEMU to a channel was admitted. */
  readonly #turns: Map<string, Promise<unknown>> = new Map();

  constructor(options: SourceProxyOptions) {
    checkChannels(options.channels);
    this.#options = options;
    this.#base = new ProxyBase(options);
  }

  get streams(): number {
    return this.#base.streams.size;
  }

  async start(): Promise<void> {
    const { channels } = this.#options;
    for (const { listener } of channels) this.#base.atEnd(() => void listener.close());
    await this.#base.begin(async () => {
      await this.#base.within(
        () => undefined,
        async (late) => void (await this.#ask({ wants: "hello" }, late)).socket.destroy(),
      );
      for (const channel of channels) this.#listen(channel);
    });
  }

  close(): Promise<void> {
    return this.#base.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #listen(channel: SourceChannel): void {
    this.#base.run(`connections to ${channel.name} are no longer accepted`, async () => {
      for await (const connection of channel.listener.connections({ signal: this.#base.ending })) {
        this.#carry(connection, channel);
      }
    });
  }

  #carry(connection: OwnedFd, channel: SourceChannel): void {
    const end = new AcceptedEnd(connection);
    const { streams } = this.#base;
    this.#base.run(`a connection to ${channel.name} was not carried to the target`, () =>
      this.#base.within(
        () => end.socket.destroy(),
        async (late) => {
          try {
            if (streams.isFull)
              throw new MigrationError(
                "MIGRATION_INPUT_INVALID",
                `there are ${streams.size} streams, the limit; raise limits.streams`,
                { path: "limits.streams" },
              );
            const outer = await this.#open(channel, late);
            streams.add(channel.name, joinEnds(end, plainEnd(outer)));
          } catch (error) {
            end.socket.destroy();
            throw error;
          }
        },
      ),
    );
  }

  async #open(channel: SourceChannel, late: AbortSignal): Promise<Socket> {
    switch (channel.kind) {
      case "control":
        return await this.#openControl(channel, late);
      case "sealed":
        return await this.#inTurn(channel, () => this.#openControl(channel, late));
      case "data":
        return await this.#inTurn(channel, () => this.#openData(channel, late));
    }
  }

  /**
   * One connection of QEMU after the other: QEMU before 8.0 takes the first connection it accepts as the main one,
   * and fails if a multifd connection has overtaken it.
   */
  async #inTurn({ name }: SourceChannel, open: () => Promise<Socket>): Promise<Socket> {
    const before = this.#turns.get(name) ?? Promise.resolve();
    const opened = before.then(open);
    // A connection that fails blocks nobody; its opener learns why.
    this.#turns.set(
      name,
      opened.catch(() => undefined),
    );
    return await opened;
  }

  async #openControl({ name }: SourceChannel, signal: AbortSignal): Promise<Socket> {
    const { socket } = await this.#ask({ wants: "stream", channel: name }, signal);
    return socket;
  }

  async #openData({ name }: SourceChannel, signal: AbortSignal): Promise<Socket> {
    const { socket: control, ticket } = await this.#ask({ wants: "ticket", channel: name }, signal);
    control.destroy();
    if (!ticket) throw peerRefused("answer", "did not give a ticket for a data channel");
    const { host, dataPort: port } = this.#options.target;
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    socket.setKeepAlive(true, keepAliveOf(this.#base.limits));
    await established(socket, "connect", signal);
    socket.write(ticket);
    return socket;
  }

  /** Opens a control connection and says what it is for. */
  async #ask(
    greeting: Greeting,
    signal: AbortSignal,
  ): Promise<{ socket: TLSSocket; ticket?: Buffer | undefined }> {
    const { uid, credentials, now, target } = this.#options;
    const expected = migrationIdentity(uid, "target");
    // Node's types lack the last one.
    const options: ConnectionOptions & { allowHalfOpen: true } = {
      ...clientTlsOptions(credentials, expected, now ? { now } : {}),
      host: target.host,
      port: target.controlPort,
      allowHalfOpen: true,
    };
    const socket = connectTls(options);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveOf(this.#base.limits));
    const expel = (): void => void socket.destroy();
    signal.addEventListener("abort", expel);
    try {
      await established(socket, "secureConnect", signal);
      socket.write(writeGreeting(greeting));
      const answer = understood(await readLine(socket));
      return { socket, ticket: answer.ticket };
    } catch (cause) {
      socket.destroy();
      throw cause instanceof MigrationError ? cause : unreachable(target, cause);
    } finally {
      signal.removeEventListener("abort", expel);
    }
  }
}

/** Waits for a connection, and destroys one that fails or is late. */
async function established(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  // From here on, the close reports errors.
  socket.on("error", () => undefined);
  try {
    await once(socket, event, { signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function understood(line: string): Extract<Answer, { ok: true }> {
  const answer = parseAnswer(line);
  if (!answer) throw peerRefused("answer", "sent something that is not a reply");
  if (!answer.ok) throw peerRefused("answer", `refused: ${answer.reason}`);
  return answer;
}

function unreachable(target: SourceProxyOptions["target"], cause: unknown): MigrationError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const where = `${target.host}:${target.controlPort}`;
  return peerRefused(
    "target",
    `at ${where} is not the target's proxy, or cannot be reached: ${why}`,
    cause,
  );
}
