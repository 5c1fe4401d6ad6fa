import { expect, onTestFinished, test } from "vitest";
import { FakeDaemon, type ReceivedCall, replyTo } from "../../testing/fake-daemon.ts";
import { connectLibvirt, type Libvirt, type LibvirtOptions } from "../libvirt.ts";
import {
  headerBytes,
  messageStatus,
  messageTypes,
  programs,
  writeHeader,
} from "../protocol/message.ts";

const dom = { name: "vm", uuid: "6695eb01-f6a4-8304-79aa-97f2502e193f", id: 1 };

async function connected(
  daemon: FakeDaemon,
  options: Partial<LibvirtOptions> = {},
): Promise<Libvirt> {
  const libvirt = await connectLibvirt({ uri: "test:///default", dial: daemon.dial, ...options });
  onTestFinished(() => libvirt.close());
  return libvirt;
}

/** What a daemon that breaks the protocol may send instead of a reply to `connectGetHostname`. */
const lies: Readonly<Record<string, (good: Buffer) => Buffer>> = {
  "a message of four bytes": () => Buffer.from([0, 0, 0, 4]),
  "a message of four gigabytes": (good) => patched(good, 0, 0xffffffff),
  "another version": (good) => patched(good, 8, 2),
  "another program": (good) => patched(good, 4, programs.qemu),
  "another procedure": (good) => patched(good, 12, 1),
  "a message type with file descriptors": (good) => patched(good, 16, 5),
  "an unknown message type": (good) => patched(good, 16, 99),
  "the serial of a call that was never made": (good) => patched(good, 20, 77),
  "an unknown status": (good) => patched(good, 24, 9),
  "a string longer than the message": (good) => patched(good, headerBytes, 1000),
  "a string longer than the protocol allows": (good) => patched(good, headerBytes, 0x7fffffff),
  "a string that ends before the message": (good) => patched(good, headerBytes, 0),
  "an error that cannot be read": (good) => patched(good, 24, messageStatus.error),
};

function patched(message: Buffer, at: number, word: number): Buffer {
  message.writeUInt32BE(word, at);
  return message;
}

test.each(Object.keys(lies))("after %s, the call fails and the connection ends", async (lie) => {
  const daemon = new FakeDaemon(({ header }) =>
    lies[lie]?.(replyTo("connectGetHostname", header, { hostname: "host1234" })),
  );
  const libvirt = await connected(daemon);
  await expect(libvirt.call("connectGetHostname")).rejects.toMatchObject({
    name: "LibvirtError",
    code: "LIBVIRT_PROTOCOL",
  });
  await expect(libvirt.call("connectGetHostname")).rejects.toMatchObject({
    code: "LIBVIRT_PROTOCOL",
  });
});

test("gives up the connection after half a message and silence", async () => {
  const daemon = new FakeDaemon(({ header }) =>
    replyTo("connectGetHostname", header, { hostname: "host" }).subarray(0, 20),
  );
  const libvirt = await connected(daemon, { messageTimeout: 20 });
  await expect(libvirt.call("connectGetHostname")).rejects.toMatchObject({
    code: "LIBVIRT_PROTOCOL",
    message: expect.stringContaining("nothing for 20 ms"),
  });
});

test("reads a message that arrives slowly", async () => {
  const daemon = new FakeDaemon(({ header, connection }) => {
    const reply = replyTo("connectGetHostname", header, { hostname: "host" });
    connection.send(reply.subarray(0, 3));
    setTimeout(() => connection.send(reply.subarray(3, 30)), 5);
    setTimeout(() => connection.send(reply.subarray(30)), 10);
    return undefined;
  });
  const libvirt = await connected(daemon, { messageTimeout: 500 });
  expect(await libvirt.call("connectGetHostname")).toEqual({ hostname: "host" });
});

test("a daemon that answers no keepalive loses its connection; one that does keeps it", async () => {
  const keepalive = { interval: 5, misses: 2 };
  const mute = await connected(new FakeDaemon(() => undefined), { keepalive });
  await expect(mute.call("connectGetHostname")).rejects.toMatchObject({
    code: "LIBVIRT_CLOSED",
    message: expect.stringContaining("2 keepalive messages"),
  });
  const alive = new FakeDaemon();
  const libvirt = await connected(alive, { keepalive });
  const pongs = setInterval(() => alive.connections[0]?.send(keepaliveMessage(2)), 2);
  onTestFinished(() => clearInterval(pongs));
  await new Promise((resolve) => setTimeout(resolve, 40));
  await libvirt.call("domainSuspend", { dom });
});

test("answers a daemon's keepalive", async () => {
  const daemon = new FakeDaemon(() => ({ hostname: "h" }));
  const libvirt = await connected(daemon);
  daemon.connections[0]?.send(keepaliveMessage(1));
  await libvirt.call("connectGetHostname");
  expect(daemon.calls.map((call) => call.header)).toContainEqual({
    program: programs.keepalive,
    procedure: 2,
    type: messageTypes.event,
    serial: 0,
    status: 0,
  });
});

function keepaliveMessage(procedure: number): Buffer {
  const message = Buffer.alloc(headerBytes);
  writeHeader(message, {
    program: programs.keepalive,
    procedure,
    type: messageTypes.event,
    serial: 0,
    status: 0,
  });
  return message;
}

test("a stream has its own connection, ends at the daemon's end of file, and is confirmed", async () => {
  const daemon = new FakeDaemon((call) => {
    setImmediate(() => {
      for (const text of ["one", "two", ""]) call.connection.send(packet(call, 2, text));
      setTimeout(() => call.connection.send(packet(call, 0, "")), 5);
    });
    return {};
  });
  const libvirt = await connected(daemon);
  const stream = await libvirt.openConsole({ dom });
  await stream.write("typed");
  const read: string[] = [];
  for await (const chunk of stream) read.push(chunk.toString());
  expect(read).toEqual(["one", "two"]);
  expect(daemon.connections).toHaveLength(2);
  const sent = daemon.calls.filter((call) => call.header.type === messageTypes.stream);
  expect(sent.map(({ header, args }) => [header.status, String(args)])).toEqual([
    [messageStatus.more, "typed"],
    [messageStatus.ok, ""],
  ]);
  await expect(stream.write("more")).rejects.toMatchObject({ code: "LIBVIRT_CLOSED" });
});

test("keeps what a stream brings before the reply to its call", async () => {
  const daemon = new FakeDaemon((call) => {
    for (const text of ["early", ""]) call.connection.send(packet(call, 2, text));
    setTimeout(() => call.connection.send(packet(call, 0, "")), 5);
    return {};
  });
  const libvirt = await connected(daemon);
  const stream = await libvirt.openConsole({ dom });
  const read: string[] = [];
  for await (const chunk of stream) read.push(chunk.toString());
  expect(read).toEqual(["early"]);
});

test("a stream that the daemon ends with an error throws it", async () => {
  const daemon = new FakeDaemon((call) => {
    const words = Buffer.alloc(44);
    words.writeInt32BE(39, 0);
    setImmediate(() => call.connection.send(packet(call, 1, words)));
    return {};
  });
  const libvirt = await connected(daemon);
  const stream = await libvirt.openConsole({ dom });
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "LIBVIRT_REMOTE",
    remote: { codeName: "rpc" },
  });
});

test("a stream that nobody reads stops its connection instead of filling the memory", async () => {
  let pushed = 0;
  const daemon = new FakeDaemon((call) => {
    const more = (): void => {
      for (let i = 0; i < 8 && pushed < 400; i++, pushed++) {
        call.connection.send(packet(call, 2, Buffer.alloc(65_536)));
      }
      if (pushed < 400) setImmediate(more);
      else call.connection.send(packet(call, 2, ""));
    };
    setImmediate(more);
    return {};
  });
  const sockets: import("node:stream").Duplex[] = [];
  const libvirt = await connected(daemon, {
    dial: async (...args) => {
      const socket = await daemon.dial(...args);
      sockets.push(socket);
      return socket;
    },
  });
  const stream = await libvirt.openConsole({ dom });
  while (pushed < 400) await new Promise((resolve) => setImmediate(resolve));
  // What was sent beyond the limit stays where back-pressure leaves it: in the socket.
  expect(sockets[1]?.isPaused()).toBe(true);
  expect(sockets[1]?.readableLength).toBeGreaterThan(20 * 2 ** 20);
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes === 400 * 65_536) break;
  }
  expect(bytes).toBe(400 * 65_536);
  stream.abort();
});

function packet(call: ReceivedCall, status: number, content: string | Buffer): Buffer {
  const message = Buffer.concat([Buffer.alloc(headerBytes), Buffer.from(content)]);
  writeHeader(message, { ...call.header, type: messageTypes.stream, status });
  return message;
}
