import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { ManualClock } from "@virtkit/api/clock";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startSourceProxy } from "./source-proxy.ts";
import {
  closed,
  eventually,
  openDescriptors,
  pour,
  readAll,
  sourceCredentials,
  standsStill,
  startProxies,
  startTarget,
  stopAll,
  uid,
} from "./testing/proxy-fixture.ts";

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const nothing = (): void => undefined;

afterEach(stopAll);

/** Answers with the hash of all that came, once it has ended. */
function answerWithHash(socket: Socket): void {
  void readAll(socket).then((bytes) => socket.end(hash(bytes)));
}

it.each([
  ["memory", "data"],
  ["sealed", "sealed"],
] as const)(
  "carries QEMU's connections in the order in which they were made, even if one is slow: %s",
  async (name, kind) => {
    const order: number[] = [];
    const serve = (socket: Socket): void => {
      const place = order.push(-1) - 1;
      socket.once("data", ([number]: Buffer) => {
        order[place] = number ?? -1;
      });
    };
    const { directory, proxy } = await startTarget({ serve });
    const { controlPort, dataPort } = proxy;
    const [control, slow] = await slowRelay(controlPort);
    const file = `${directory}/source-${name}`;
    await using _source = await startSourceProxy({
      ...{ uid, credentials: await sourceCredentials() },
      target: { host: "127.0.0.1", controlPort: control, dataPort },
      channels: [{ name, kind, listener: listenUnix(file) }],
    });
    slow.hold();
    const clients = [];
    for (const number of [0, 1, 2]) {
      const client = connect({ path: file });
      clients.push(client);
      await once(client, "connect");
      client.write(Buffer.of(number));
    }
    // Whoever does not wait for the first has overtaken it by then.
    await standsStill(() => order.filter((number) => number >= 0).length);
    slow.release();
    await eventually(() => order.filter((number) => number >= 0).length).toBe(3);
    expect(order).toEqual([0, 1, 2]);
    for (const client of clients) client.destroy();
  },
);

/** Passes connections on to a port; the next one after `hold` not before `release`. */
async function slowRelay(port: number): Promise<[number, { hold(): void; release(): void }]> {
  let isHolding = false;
  let release = nothing;
  const server = createServer((near) => {
    const far = connect({ port, host: "127.0.0.1" });
    near.on("error", nothing).on("close", () => far.destroy());
    far.on("error", nothing).on("close", () => near.destroy());
    const join = (): void => void near.pipe(far).pipe(near);
    if (!isHolding) return join();
    isHolding = false;
    release = join;
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const hold = (): void => {
    isHolding = true;
  };
  return [(server.address() as AddressInfo).port, { hold, release: () => release() }];
}

/** Passes connections on to a port, and keeps what went that way. */
async function tappedRelay(port: number): Promise<[number, Buffer[]]> {
  const seen: Buffer[] = [];
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    near.on("error", nothing).on("close", () => far.destroy());
    far.on("error", nothing).on("close", () => near.destroy());
    near.on("data", (chunk) => seen.push(chunk)).pipe(far);
    far.pipe(near);
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return [(server.address() as AddressInfo).port, seen];
}

it.each([
  ["sealed", "sealed", false],
  ["memory", "data", true],
] as const)(
  "what crosses the wire on a channel %s, kind %s, shows what QEMU sends: %s",
  async (name, kind, isShown) => {
    const { directory, proxy } = await startTarget({ serve: answerWithHash });
    const [controlPort, control] = await tappedRelay(proxy.controlPort);
    const [dataPort, data] = await tappedRelay(proxy.dataPort);
    const file = `${directory}/source-${name}`;
    await using _source = await startSourceProxy({
      ...{ uid, credentials: await sourceCredentials() },
      target: { host: "127.0.0.1", controlPort, dataPort },
      channels: [{ name, kind, listener: listenUnix(file) }],
    });
    const client = connect({ path: file, allowHalfOpen: true });
    const bytes = Buffer.alloc(100_000, "QEVM");
    client.end(bytes);
    expect(String(await readAll(client))).toBe(hash(bytes));
    expect(Buffer.concat(control).includes("QEVM")).toBe(false);
    expect(Buffer.concat(data).includes("QEVM")).toBe(isShown);
  },
);

it.each([
  ["sealed", "data"],
  ["data", "sealed"],
] as const)(
  "a target that offers a channel as %s accepts no stream of it as %s",
  async (offered, asked) => {
    const served: Socket[] = [];
    const serve = (socket: Socket): void => void served.push(socket);
    const { directory, proxy } = await startTarget({ serve, channels: { memory: offered } });
    const { controlPort, dataPort } = proxy;
    const file = `${directory}/source-memory`;
    await using _source = await startSourceProxy({
      ...{ uid, credentials: await sourceCredentials() },
      target: { host: "127.0.0.1", controlPort, dataPort },
      channels: [{ name: "memory", kind: asked, listener: listenUnix(file) }],
    });
    const client = connect({ path: file });
    client.on("error", nothing).resume();
    await closed(client);
    expect(served).toEqual([]);
  },
);

describe.each(["memory", "sealed", "libvirt"])("a stream of the channel %s", (channel) => {
  it("carries bytes unchanged, each way until its own end", async () => {
    const proxies = await startProxies({ serve: answerWithHash });
    const client = proxies.dial(channel);
    const bytes = randomBytes(4_000_001);
    client.end(bytes);
    expect(String(await readAll(client))).toBe(hash(bytes));
    await eventually(() => proxies.source.streams + proxies.target.streams).toBe(0);
  });

  it("carries what the target sends, even after the source has closed its side", async () => {
    const bytes = randomBytes(3_000_001);
    const proxies = await startProxies({
      serve: (socket) => socket.once("end", () => socket.end(bytes)).resume(),
    });
    const client = proxies.dial(channel);
    client.end("first");
    expect(hash(await readAll(client))).toBe(hash(bytes));
  });

  it("carries many streams at a time without mixing them up", async () => {
    const proxies = await startProxies({ serve: answerWithHash });
    const streams = Array.from({ length: 16 }, async () => {
      const client = proxies.dial(channel);
      const bytes = randomBytes(500_000);
      for (let from = 0; from < bytes.length; from += 70_001) {
        if (!client.write(bytes.subarray(from, from + 70_001))) await once(client, "drain");
      }
      client.end();
      expect(String(await readAll(client))).toBe(hash(bytes));
    });
    await Promise.all(streams);
  });

  it("breaks when either end does", async () => {
    const served: Socket[] = [];
    const proxies = await startProxies({ serve: (socket) => served.push(socket.resume()) });
    const sending = proxies.dial(channel).resume();
    await eventually(() => served.length).toBe(1);
    served[0]?.destroy();
    // A unix socket tells of it when something is written.
    const timer = setInterval(() => sending.write("x"), 20);
    await closed(sending);
    clearInterval(timer);
    const client = proxies.dial(channel);
    await eventually(() => served.length).toBe(2);
    const ended = closed(served[1] as Socket);
    served[1]?.once("end", () => served[1]?.end());
    client.destroy();
    await ended;
    await eventually(() => proxies.source.streams + proxies.target.streams).toBe(0);
  });

  it("holds the sender back when nobody reads, and loses nothing", async () => {
    const served: Socket[] = [];
    const proxies = await startProxies({ serve: (socket) => served.push(socket) });
    const client = proxies.dial(channel);
    const bytes = randomBytes(32 << 20);
    const progress = pour(client, bytes);
    await eventually(() => served.length).toBe(1);
    await standsStill(() => progress.sent);
    expect(progress.sent).toBeLessThan(24 << 20);
    const got = readAll(served[0] as Socket);
    expect(hash(await got)).toBe(hash(bytes));
  });
});

describe("limits", () => {
  it("end a stream whose bytes nobody reads, and no other", async () => {
    const clock = new ManualClock();
    const served: Socket[] = [];
    const proxies = await startProxies({
      serve: (socket) => served.push(socket),
      source: { clock, limits: { stall: 1_000, idle: 100_000 } },
    });
    const [stuck, lively] = [proxies.dial("memory"), proxies.dial("memory")];
    await eventually(() => served.length).toBe(2);
    lively.write("x");
    const progress = pour(stuck, Buffer.alloc(64 << 20));
    await standsStill(() => progress.sent);
    expect(proxies.source.streams).toBe(2);
    const ended = closed(stuck);
    await clock.pass(2_000);
    await ended;
    await eventually(() => proxies.source.streams).toBe(1);
    expect(lively.destroyed).toBe(false);
  });

  it("end a stream that carries nothing", async () => {
    const clock = new ManualClock();
    const warn = vi.fn();
    const proxies = await startProxies({
      serve: nothing,
      source: {
        clock,
        limits: { idle: 1_000 },
        log: { debug: nothing, info: nothing, error: nothing, warn },
      },
    });
    const client = proxies.dial("memory").resume();
    await eventually(() => proxies.source.streams).toBe(1);
    await clock.pass(900);
    expect(proxies.source.streams).toBe(1);
    await clock.pass(500);
    await eventually(() => proxies.source.streams).toBe(0);
    expect(warn.mock.calls[0]?.[1]).toBe("a stream made no progress");
    client.destroy();
  });

  it.each(["source", "target"] as const)(
    "on the number of streams hold at the %s",
    async (side) => {
      const served: Socket[] = [];
      const proxies = await startProxies({
        serve: (socket) => served.push(socket.once("end", () => socket.end()).resume()),
        [side]: { limits: { streams: 2 } },
      });
      const [first, second] = [proxies.dial("memory"), proxies.dial("memory")];
      await eventually(() => served.length).toBe(2);
      for (const channel of ["memory", "libvirt"]) {
        const third = proxies.dial(channel).resume();
        await once(third, "end");
        expect(served).toHaveLength(2);
      }
      first.destroy();
      second.destroy();
      await eventually(() => proxies.source.streams + proxies.target.streams).toBe(0);
      const next = proxies.dial("memory");
      await eventually(() => served.length).toBe(3);
      next.destroy();
    },
  );
});

describe("the end of a proxy", () => {
  it.each(["close", "signal"] as const)("by its %s leaves nothing open", async (how) => {
    const before = openDescriptors();
    const stop = new AbortController();
    const { signal } = stop;
    const proxies = await startProxies({
      serve: nothing,
      source: { signal },
      target: { signal },
    });
    const { controlPort, dataPort } = proxies.target;
    const clients = ["memory", "libvirt", "memory"].map((channel) =>
      proxies.dial(channel).resume(),
    );
    await eventually(() => proxies.target.streams).toBe(3);
    // Those that have not got anywhere yet.
    const waiting = [controlPort, dataPort].map((port) => connect(port, "127.0.0.1").resume());
    for (const socket of waiting) socket.on("error", nothing);
    await Promise.all(waiting.map((socket) => once(socket, "connect")));
    const ended = [...clients, ...waiting].map(closed);
    if (how === "signal") stop.abort();
    else await Promise.all([proxies.source.close(), proxies.target.close()]);
    for (const client of clients) client.once("end", () => client.end());
    await Promise.all(ended);
    await Promise.all([proxies.source.close(), proxies.target.close()]);
    expect(proxies.source.streams + proxies.target.streams).toBe(0);
    for (const port of [controlPort, dataPort]) {
      await expect(once(connect(port, "127.0.0.1"), "connect")).rejects.toThrow("ECONNREFUSED");
    }
    const late = once(proxies.dial("memory"), "connect");
    await expect(late).rejects.toThrow("ECONNREFUSED");
    await stopAll();
    await eventually(openDescriptors).toBe(before);
  });
});
