import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { CertificateAuthority, type Credentials, migrationIdentity } from "@virtkit/pki";
import { expect } from "vitest";
import type { ChannelKind } from "../proxy-options.ts";
import { type SourceProxy, type SourceProxyOptions, startSourceProxy } from "../source-proxy.ts";
import { startTargetProxy, type TargetProxy, type TargetProxyOptions } from "../target-proxy.ts";

export const uid = "6f4e58b1-6a35-4cf7-a3a4-5a29f57d8f9c";

/** A certificate authority that is kept only in memory. */
export function newAuthority(now?: () => Date): Promise<CertificateAuthority> {
  return CertificateAuthority.open({
    trustDomain: "lab",
    store: { read: async () => undefined, swap: async () => true },
    ...(now && { now }),
  });
}

/** Both sides of a migration's proxy on this host, and what is behind them. */
export interface ProxyFixture {
  readonly source: SourceProxy;
  readonly target: TargetProxy;
  /** Connects as QEMU or libvirt of the source does. */
  dial(channel: string): Socket;
}

/** What differs between tests. */
export interface FixtureOptions {
  /** The server behind each connection at the target. */
  readonly serve: (socket: Socket, channel: string) => void;
  readonly channels?: Readonly<Record<string, ChannelKind>>;
  readonly source?: Partial<SourceProxyOptions>;
  readonly target?: Partial<TargetProxyOptions>;
}

const started: (() => Promise<void>)[] = [];

/** Ends everything that was started here. */
export async function stopAll(): Promise<void> {
  for (const stop of started.splice(0).reverse()) await stop();
}

/** A target's proxy alone, with a server behind each channel. */
export async function startTarget({
  serve,
  channels = { memory: "data", sealed: "sealed", libvirt: "control" },
  target,
}: FixtureOptions): Promise<{ directory: string; proxy: TargetProxy }> {
  const directory = mkdtempSync(path.join(tmpdir(), "virtkit-proxy-"));
  const inner: Server[] = [];
  const accepted = new Set<Socket>();
  started.push(async () => {
    for (const socket of accepted) socket.destroy();
    await Promise.all(inner.map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(directory, { recursive: true, force: true });
  });
  for (const name of Object.keys(channels)) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      accepted.add(socket);
      socket.once("close", () => accepted.delete(socket));
      // Peers break on purpose.
      socket.on("error", () => undefined);
      serve(socket, name);
    });
    server.listen(path.join(directory, `target-${name}`));
    await once(server, "listening");
    inner.push(server);
  }
  const proxy = await startTargetProxy({
    uid,
    credentials: await (await sharedAuthority()).issue(migrationIdentity(uid, "target")),
    address: "127.0.0.1",
    channels: Object.entries(channels).map(([name, kind]) => ({
      name,
      kind,
      dial: () => dialUnix(path.join(directory, `target-${name}`)),
    })),
    ...target,
  });
  started.push(() => proxy.close());
  return { directory, proxy };
}

/** Starts both. */
export async function startProxies(options: FixtureOptions): Promise<ProxyFixture> {
  const { channels = { memory: "data", sealed: "sealed", libvirt: "control" } } = options;
  const { directory, proxy } = await startTarget(options);
  const file = (name: string): string => path.join(directory, `source-${name}`);
  const source = await startSourceProxy({
    uid,
    credentials: await sourceCredentials(),
    target: { host: "127.0.0.1", controlPort: proxy.controlPort, dataPort: proxy.dataPort },
    channels: Object.entries(channels).map(([name, kind]) => ({
      name,
      kind,
      listener: listenUnix(file(name), { backlog: 1024 }),
    })),
    ...options.source,
  });
  const clients = new Set<Socket>();
  started.push(async () => {
    await source.close();
    for (const socket of clients) socket.destroy();
  });
  return {
    source,
    target: proxy,
    dial: (channel) => {
      const socket = connect({ path: file(channel), allowHalfOpen: true });
      // Peers break on purpose.
      socket.on("error", () => undefined);
      clients.add(socket);
      return socket;
    },
  };
}

/** Of the authority that all fixtures trust. */
export async function sourceCredentials(): Promise<Credentials> {
  return await (await sharedAuthority()).issue(migrationIdentity(uid, "source"));
}

let shared: Promise<CertificateAuthority> | undefined;
export function sharedAuthority(): Promise<CertificateAuthority> {
  shared ??= newAuthority();
  return shared;
}

async function dialUnix(file: string): Promise<Socket> {
  const socket = connect({ path: file, allowHalfOpen: true });
  await once(socket, "connect");
  return socket;
}

/** How many descriptors this process has open. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Everything that a socket sends until its end. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  return Buffer.concat(chunks);
}

/** Checks until something is as expected; a busy host takes its time. */
export function eventually<T>(look: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(look, { interval: 30, timeout: 30_000 });
}

/** Sends bytes and then an end, in pieces: only what was written whole is seen to be taken. */
export function pour(socket: Socket, bytes: Buffer): { readonly sent: number } {
  const progress = { sent: 0 };
  const next = (): void => {
    if (progress.sent >= bytes.length) return void socket.end();
    const piece = bytes.subarray(progress.sent, progress.sent + 65_536);
    socket.write(piece, (error) => {
      if (error) return;
      progress.sent += piece.length;
      next();
    });
  };
  next();
  return progress;
}

/** Waits until a figure is the same in ten consecutive samples. */
export async function standsStill(figure: () => number): Promise<void> {
  let [last, same] = [Number.NaN, 0];
  await eventually(() => {
    const now = figure();
    same = now === last ? same + 1 : 0;
    last = now;
    return same;
  }).toBeGreaterThanOrEqual(10);
}

/** When a socket is closed, with an error or without. */
export async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}
