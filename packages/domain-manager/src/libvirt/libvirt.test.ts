import { expect, onTestFinished, test } from "vitest";
import { FakeDaemon, type ReceivedCall, replyTo } from "../testing/fake-daemon.ts";
import { connectLibvirt, type Libvirt, type LibvirtOptions } from "./libvirt.ts";
import { headerBytes } from "./protocol/message.ts";

const dom = { name: "vm", uuid: "6695eb01-f6a4-8304-79aa-97f2502e193f", id: 1 };
const other = { ...dom, uuid: "00000000-0000-0000-0000-000000000001" };
const running = { state: "running", maxMemory: 1n, memory: 1n, vcpus: 1, cpuTime: 1n };

async function connected(
  daemon: FakeDaemon,
  options: Partial<LibvirtOptions> = {},
): Promise<Libvirt> {
  const libvirt = await connectLibvirt({ uri: "test:///default", dial: daemon.dial, ...options });
  onTestFinished(() => libvirt.close());
  return libvirt;
}

/** A daemon that does not answer by itself; the test does. */
function silent(): { daemon: FakeDaemon; asked: ReceivedCall[] } {
  const asked: ReceivedCall[] = [];
  const daemon = new FakeDaemon((call) => {
    asked.push(call);
    return undefined;
  });
  return { daemon, asked };
}

function answer(call: ReceivedCall | undefined, hostname: string): void {
  if (!call) throw new Error("the daemon was not asked");
  call.connection.send(replyTo("connectGetHostname", call.header, { hostname }));
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("authenticates, then opens the name without our own parts of the URI", async () => {
  const daemon = new FakeDaemon();
  await connected(daemon, { uri: "qemu+unix:///session?socket=/x", flags: ["readOnly"] });
  expect(daemon.calls.map(({ name, args }) => ({ name, args }))).toEqual([
    { name: "authList", args: {} },
    { name: "connectOpen", args: { name: "qemu:///session", flags: 1 } },
  ]);
});

test("at most four calls are in flight; the rest wait, and domains take turns", async () => {
  const { daemon, asked } = silent();
  const libvirt = await connected(daemon);
  const calls = [
    ...Array.from({ length: 6 }, () => libvirt.call("domainSuspend", { dom })),
    libvirt.call("domainSuspend", { dom: other }),
  ];
  for (const call of calls) call.catch(() => {});
  await turn();
  expect(asked).toHaveLength(4);
  const reply = (call: ReceivedCall | undefined): void => {
    call?.connection.send(replyTo("domainSuspend", call.header, {}));
  };
  reply(asked[0]);
  reply(asked[1]);
  await turn();
  const uuids = asked.map(({ args }) => (args as { dom: { uuid: string } }).dom.uuid);
  expect(uuids.slice(4).sort()).toEqual([other.uuid, dom.uuid].sort());
});

test("matches answers by number, not by order", async () => {
  const { daemon, asked } = silent();
  const libvirt = await connected(daemon);
  const calls = ["a", "b", "c"].map(() => libvirt.call("connectGetHostname"));
  await turn();
  for (const index of [2, 0, 1]) answer(asked[index], `host${index}`);
  expect(await Promise.all(calls)).toEqual([0, 1, 2].map((i) => ({ hostname: `host${i}` })));
});

test("an abandoned call fails at once, keeps its place, and its late answer is dropped", async () => {
  const { daemon, asked } = silent();
  const libvirt = await connected(daemon, { maxInFlight: 1 });
  const controller = new AbortController();
  const stuck = libvirt.call("connectGetHostname", {}, { signal: controller.signal });
  const next = libvirt.call("connectGetHostname");
  await turn();
  controller.abort(new Error("enough"));
  await expect(stuck).rejects.toMatchObject({
    code: "LIBVIRT_ABORTED",
    procedure: "connectGetHostname",
    cause: { message: "enough" },
  });
  await turn();
  expect(asked).toHaveLength(1);
  answer(asked[0], "late");
  await turn();
  answer(asked[1], "mine");
  expect(await next).toEqual({ hostname: "mine" });
});

test("never sends a call that was abandoned in the queue", async () => {
  const { daemon, asked } = silent();
  const libvirt = await connected(daemon, { maxInFlight: 1 });
  const first = libvirt.call("connectGetHostname");
  const signal = AbortSignal.abort();
  const aborted = libvirt.call("connectGetHostname", {}, { signal });
  const late = libvirt.call("connectGetHostname", {}, { timeout: 5 });
  await expect(aborted).rejects.toMatchObject({ code: "LIBVIRT_ABORTED" });
  await expect(late).rejects.toMatchObject({ code: "LIBVIRT_TIMEOUT" });
  answer(asked[0], "h");
  await first;
  await turn();
  expect(asked).toHaveLength(1);
});

test("rejects calls above the queue limit", async () => {
  const { daemon } = silent();
  const libvirt = await connected(daemon, { maxInFlight: 1, maxQueued: 2 });
  const calls = Array.from({ length: 4 }, () => libvirt.call("connectGetHostname"));
  for (const call of calls) call.catch(() => {});
  await expect(calls[3]).rejects.toMatchObject({ code: "LIBVIRT_BUSY" });
});

test("an error of the daemon has its number, domain, level and the procedure", async () => {
  const daemon = new FakeDaemon(({ header }) => errorReply(header));
  const libvirt = await connected(daemon);
  await expect(libvirt.call("domainLookupByName", { name: "x" })).rejects.toMatchObject({
    name: "LibvirtError",
    code: "LIBVIRT_REMOTE",
    procedure: "domainLookupByName",
    remote: { code: 42, codeName: "noDomain", domain: 10, domainName: "qemu", level: 2 },
  });
});

function errorReply({ serial, procedure }: { serial: number; procedure: number }): Buffer {
  const words = [0, 0x20008086, 1, procedure, 1, serial, 1, 42, 10, 0, 2, 0, 0, 0, 0, 0, 0, 0];
  const message = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) message.writeUInt32BE(word, index * 4);
  message.writeUInt32BE(message.length, 0);
  return message;
}

test("rejects an invalid argument with the procedure and the field, and sends nothing", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon);
  const before = daemon.calls.length;
  await expect(libvirt.call("domainGetInfo", { dom: { ...dom, uuid: "x" } })).rejects.toMatchObject(
    {
      code: "LIBVIRT_ARGUMENT",
      procedure: "domainGetInfo",
      path: "dom.uuid",
      message: expect.stringContaining('found "x"'),
    },
  );
  await expect(libvirt.call("toString" as "connectClose")).rejects.toMatchObject({
    code: "LIBVIRT_ARGUMENT",
  });
  expect(daemon.calls).toHaveLength(before);
});

test("closing fails waiting calls, ends event streams, and can be repeated", async () => {
  const { daemon } = silent();
  const libvirt = await connected(daemon);
  const events = await libvirt.subscribe(["lifecycle"]);
  const stuck = expect(libvirt.call("connectGetHostname")).rejects.toMatchObject({
    code: "LIBVIRT_CLOSED",
  });
  await turn();
  await libvirt.close();
  await libvirt.close();
  await stuck;
  expect(await events.next()).toEqual({ done: true, value: undefined });
  await expect(libvirt.call("connectGetHostname")).rejects.toMatchObject({
    code: "LIBVIRT_CLOSED",
  });
});

test("explains what to do if the daemon requires another authentication", async () => {
  const daemon = new FakeDaemon();
  const dial: LibvirtOptions["dial"] = async (...args) => {
    const socket = await daemon.dial(...args);
    const push = socket.push.bind(socket);
    socket.push = (chunk: Buffer | null) => {
      chunk?.writeUInt32BE(1, headerBytes + 4);
      return push(chunk);
    };
    return socket;
  };
  await expect(connectLibvirt({ uri: "test:///default", dial })).rejects.toMatchObject({
    code: "LIBVIRT_AUTH",
    message: expect.stringContaining("sasl"),
  });
});

test("fails if the connection does not open in time", async () => {
  const dial: LibvirtOptions["dial"] = (_, { signal }) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error)),
    );
  await expect(
    connectLibvirt({ uri: "test:///default", dial, connectTimeout: 5 }),
  ).rejects.toMatchObject({ code: "LIBVIRT_TIMEOUT" });
  const signal = AbortSignal.abort("no");
  await expect(
    connectLibvirt({ uri: "test:///default", dial: new FakeDaemon().dial, signal }),
  ).rejects.toMatchObject({ code: "LIBVIRT_ABORTED", cause: "no" });
});

test("returns what the daemon sent", async () => {
  const daemon = new FakeDaemon(() => running);
  const libvirt = await connected(daemon);
  expect(await libvirt.call("domainGetInfo", { dom })).toEqual(running);
});
