import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { dialUnixSocket } from "./dial-unix-socket.ts";
import { GuestSocket } from "./guest-socket.ts";

const patience = { timeout: 20_000, interval: 20 };

/** QEMU's end: a unix socket that hands over its connections. */
async function guest() {
  const directory = await temporaryDirectory();
  const path = join(directory.path, "s");
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
  });
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const console = new GuestSocket({ what: "console", dial: dialUnixSocket(path) });
  const accepted = async (count: number): Promise<Socket> => {
    await expect.poll(() => sockets.length, patience).toBeGreaterThanOrEqual(count);
    return sockets[count - 1] as Socket;
  };
  return { console, path, server, accepted };
}

test("bytes go both ways, and the stream ends with the guest", async () => {
  const { console, accepted } = await guest();
  const stream = await console.open();
  const other = await accepted(1);
  stream.write("in");
  expect(String(await once(other, "data"))).toBe("in");
  other.end("out");
  expect((await stream.toArray()).join("")).toBe("out");
  await expect.poll(() => console.busy, patience).toBe(false);
});

test("the newest client wins; the older one's stream says why it ended", async () => {
  const { console, accepted } = await guest();
  const first = await console.open();
  const gone = expect(once(first, "data")).rejects.toMatchObject({
    code: "DOMAIN_STREAM_TAKEN",
    message: "console: a newer client has taken it",
  });
  const second = await console.open();
  await gone;
  const [old, other] = [await accepted(1), await accepted(2)];
  if (!old.closed) await once(old.resume(), "close");
  other.write("to the second");
  expect(String(await once(second, "data"))).toBe("to the second");
});

test("the error of an old stream without a listener does not end the process", async () => {
  const { console } = await guest();
  const first = await console.open();
  await console.open();
  await expect.poll(() => first.errored, patience).toMatchObject({ code: "DOMAIN_STREAM_TAKEN" });
});

test("a preserved session rejects the new client", async () => {
  const { console } = await guest();
  const first = await console.open({ preserveSession: true });
  await expect(console.open({ preserveSession: true })).rejects.toMatchObject({
    code: "DOMAIN_STREAM_BUSY",
  });
  expect(first.destroyed).toBe(false);
  first.destroy();
  await once(first, "close");
  expect((await console.open({ preserveSession: true })).destroyed).toBe(false);
});

test("a client that cannot connect does not replace the present one", async () => {
  const { console, server } = await guest();
  const first = await console.open();
  server.close();
  await expect(console.open()).rejects.toMatchObject({
    code: "DOMAIN_STREAM_LOST",
    message: expect.stringContaining("check whether the guest runs"),
  });
  expect(first.destroyed).toBe(false);
});

test("the last of many concurrent clients wins", async () => {
  const { console } = await guest();
  const opened = await Promise.allSettled(Array.from({ length: 10 }, () => console.open()));
  const streams = opened.map((one) => (one.status === "fulfilled" ? one.value : undefined));
  expect(streams.at(-1)?.destroyed).toBe(false);
  await expect
    .poll(() => streams.slice(0, -1).filter((stream) => stream && !stream.destroyed), patience)
    .toEqual([]);
});

test("gives up a dialer that never answers, and one whose caller leaves", async () => {
  const dial = async (signal: AbortSignal): Promise<never> =>
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const late = new GuestSocket({ what: "screen", dial, dialTimeout: 20 });
  await expect(late.open()).rejects.toThrow("screen: nobody answered within 20 ms");
  const signal = AbortSignal.timeout(10);
  await expect(new GuestSocket({ what: "screen", dial }).open({ signal })).rejects.toMatchObject({
    code: "DOMAIN_STREAM_LOST",
  });
});

test("retries while QEMU's queue is full", async () => {
  let tries = 0;
  const dial = async () => {
    if (++tries < 3) throw Object.assign(new Error("connect EAGAIN"), { code: "EAGAIN" });
    return new PassThrough();
  };
  await new GuestSocket({ what: "console", dial }).open();
  expect(tries).toBe(3);
});

test("reads nothing more from the guest while a client does not read", async () => {
  const { console, accepted } = await guest();
  const stream = await console.open();
  const other = await accepted(1);
  const chunk = Buffer.alloc(64 << 10, "x");
  // Until what was written stays with the writer: then all buffers in between are full.
  let last = -1;
  await expect
    .poll(
      () => {
        for (let i = 0; i < 16 && other.writableLength < 1 << 20; i++) other.write(chunk);
        const through = other.bytesWritten - other.writableLength;
        const isStill = through === last;
        last = through;
        return isStill;
      },
      { timeout: 20_000, interval: 50 },
    )
    .toBe(true);
  expect(last).toBeLessThan(1 << 20);
  expect(stream.readableLength).toBeLessThanOrEqual(stream.readableHighWaterMark + (64 << 10));
});

test("a pipeline stops reading from the client while the guest does not read", async () => {
  const { console, accepted } = await guest();
  const stream = await console.open();
  (await accepted(1)).pause();
  let taken = 0;
  const client = async function* () {
    for (;;) {
      taken += 64 << 10;
      yield Buffer.alloc(64 << 10);
    }
  };
  const done = pipeline(client, stream).catch(() => {});
  let last = -1;
  await expect
    .poll(
      () => {
        const isStill = taken === last;
        last = taken;
        return isStill;
      },
      { timeout: 20_000, interval: 50 },
    )
    .toBe(true);
  expect(taken).toBeLessThan(2 << 20);
  stream.destroy();
  await done;
});

test("disconnects a client with a reason", async () => {
  const { console } = await guest();
  const stream = await console.open();
  const lost = expect(pipeline(stream, new Writable({ write: (_, __, done) => done() })));
  console.disconnect("the guest has moved");
  await lost.rejects.toThrow("console: the guest has moved");
  expect(console.busy).toBe(false);
});
