import { ManualClock } from "@virtkit/api/clock";
import { expect, onTestFinished, test } from "vitest";
import { FakeDaemon, refusalOf, replyTo } from "../testing/fake-daemon.ts";
import { connectLibvirt, type Libvirt, type LibvirtOptions } from "./libvirt.ts";
import { readHeader } from "./protocol/message.ts";

const dom = { name: "vm", uuid: "6695eb01-f6a4-8304-79aa-97f2502e193f", id: 1 };
const started = { dom, event: "started", detail: 0 };
const reconnect = { firstDelay: 1, lastDelay: 4 };

async function connected(
  daemon: FakeDaemon,
  options: Partial<LibvirtOptions> = {},
): Promise<Libvirt> {
  const libvirt = await connectLibvirt({ uri: "test:///default", dial: daemon.dial, ...options });
  onTestFinished(() => libvirt.close());
  return libvirt;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("delivers an event to its subscribers, with its fields", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon);
  const all = await libvirt.subscribe(["lifecycle", "reboot"]);
  const one = await libvirt.subscribe(["lifecycle"], { dom });
  const [connection] = daemon.connections;
  connection?.event("reboot", 2, { dom });
  connection?.event("lifecycle", 1, started);
  connection?.event("lifecycle", 3, { ...started, event: "stopped" });
  connection?.event("lifecycle", 99, started);
  expect((await all.next()).value).toEqual({ type: "reboot", dom });
  expect((await all.next()).value).toEqual({ type: "lifecycle", ...started });
  expect((await one.next()).value).toMatchObject({ event: "stopped" });
  expect(daemon.calls.filter((call) => call.name === "eventRegister").map((c) => c.args)).toEqual([
    { event: 0, dom: undefined },
    { event: 1, dom: undefined },
    { event: 0, dom },
  ]);
});

test("keeps an event in the same packet as the reply to its registration", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon);
  const [connection] = daemon.connections;
  if (!connection) throw new Error("nobody connected");
  const send = connection.send.bind(connection);
  connection.send = (reply) => {
    const parts: Buffer[] = [];
    connection.send = (message) => parts.push(message);
    // One event too early, as a multi-threaded daemon may send it, and one right after.
    connection.event("lifecycle", 1, { ...started, detail: 1 });
    connection.event("lifecycle", 1, { ...started, detail: 2 });
    connection.send = send;
    send(Buffer.concat([parts[0] ?? reply, reply, parts[1] ?? reply]));
  };
  const events = await libvirt.subscribe(["lifecycle"]);
  expect((await events.next()).value).toMatchObject({ detail: 1 });
  expect((await events.next()).value).toMatchObject({ detail: 2 });
});

test("informs a slow reader of how much it lost, and gives it the newest events", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon);
  const events = await libvirt.subscribe(["lifecycle"], { limit: 2 });
  for (let detail = 0; detail < 5; detail++) {
    daemon.connections[0]?.event("lifecycle", 1, { ...started, detail });
  }
  await turn();
  expect((await events.next()).value).toEqual({ type: "dropped", count: 3 });
  expect((await events.next()).value).toMatchObject({ detail: 3 });
  expect((await events.next()).value).toMatchObject({ detail: 4 });
  daemon.connections[0]?.event("lifecycle", 1, { ...started, detail: 9 });
  expect((await events.next()).value).toMatchObject({ detail: 9 });
});

test("two subscribers share a registration, which ends with the last of them", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon, { reconnect });
  const [first, second] = await Promise.all([
    libvirt.subscribe(["lifecycle"]),
    libvirt.subscribe(["lifecycle", "reboot"]),
  ]);
  const count = (name: string) => daemon.calls.filter((call) => call.name === name).length;
  expect(count("eventRegister")).toBe(2);
  daemon.connections[0]?.event("lifecycle", 1, started);
  expect((await first.next()).value).toMatchObject({ type: "lifecycle" });
  expect((await second.next()).value).toMatchObject({ type: "lifecycle" });
  await first.return();
  expect(count("eventDeregister")).toBe(0);
  daemon.connections[0]?.end();
  expect((await second.next()).value).toEqual({ type: "resync" });
  expect(count("eventRegister")).toBe(4);
  await libvirt.call("domainSuspend", { dom });
  await second.return();
  expect(count("eventDeregister")).toBe(2);
});

test("registers again for the next subscriber after the daemon refused", async () => {
  let refusals = 1;
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon);
  const [connection] = daemon.connections;
  const send = connection?.send.bind(connection);
  if (!connection || !send) throw new Error("nobody connected");
  connection.send = (reply) => {
    if (refusals-- > 0) send(refusalOf(readHeader(reply), 8));
    else send(reply);
  };
  const both = await Promise.allSettled([
    libvirt.subscribe(["lifecycle"]),
    libvirt.subscribe(["lifecycle"]),
  ]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(daemon.calls.filter((call) => call.name === "eventRegister")).toHaveLength(2);
});

test("removes the registration at the end of the loop", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon);
  const events = await libvirt.subscribe(["lifecycle", "reboot"]);
  daemon.connections[0]?.event("lifecycle", 1, started);
  for await (const item of events) {
    expect(item.type).toBe("lifecycle");
    break;
  }
  const taken = daemon.calls.filter((call) => call.name === "eventDeregister");
  expect(taken.map((call) => call.args)).toEqual([{ callback: 1 }, { callback: 2 }]);
});

test("without reconnect, a lost connection fails calls and, after pending events, event streams", async () => {
  const daemon = new FakeDaemon(() => undefined);
  const libvirt = await connected(daemon);
  const events = await libvirt.subscribe(["lifecycle"]);
  const lost = { code: "LIBVIRT_CLOSED", message: expect.stringContaining("daemon closed") };
  const procedure = "connectGetHostname";
  const stuck = expect(libvirt.call(procedure)).rejects.toMatchObject({ ...lost, procedure });
  await turn();
  daemon.connections[0]?.event("lifecycle", 1, started);
  daemon.connections[0]?.end();
  await stuck;
  expect((await events.next()).value).toMatchObject({ type: "lifecycle" });
  await expect(events.next()).rejects.toMatchObject(lost);
  await expect(libvirt.call("connectGetHostname")).rejects.toMatchObject(lost);
});

test("with reconnect, streams resync on new registrations, and calls wait for the connection", async () => {
  const daemon = new FakeDaemon(() => ({ hostname: "h" }));
  const libvirt = await connected(daemon, { reconnect });
  const events = await libvirt.subscribe(["lifecycle"]);
  daemon.down = true;
  daemon.connections[0]?.end();
  await turn();
  const waiting = libvirt.call("connectGetHostname");
  await expect(libvirt.call("connectGetHostname", {}, { timeout: 2 })).rejects.toMatchObject({
    code: "LIBVIRT_TIMEOUT",
  });
  await expect(
    libvirt.call("connectGetHostname", {}, { signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: "LIBVIRT_ABORTED" });
  daemon.down = false;
  expect(await waiting).toEqual({ hostname: "h" });
  expect((await events.next()).value).toEqual({ type: "resync" });
  daemon.connections[1]?.event("lifecycle", 2, started);
  expect((await events.next()).value).toMatchObject({ type: "lifecycle" });
});

test("logs a lost connection, each attempt to reconnect, and its return", async () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const tell =
    (level: string) =>
    (first: unknown, message?: string): void => {
      told.push(`${level} ${message ?? first}`);
    };
  const log = {
    debug: tell("debug"),
    info: tell("info"),
    warn: tell("warn"),
    error: tell("error"),
  };
  const metrics = { count: (name: string) => told.push(name), observe: () => {} };
  const daemon = new FakeDaemon();
  await connected(daemon, { reconnect: { firstDelay: 50, lastDelay: 100 }, clock, log, metrics });
  daemon.down = true;
  daemon.connections[0]?.end();
  await clock.pass(0);
  expect(told.splice(0)).toEqual([
    "warn libvirt: the connection is lost",
    "libvirt_connections_lost",
  ]);
  await clock.pass(150);
  const failed = [
    "debug libvirt: the next attempt to connect follows",
    "libvirt_reconnect_failures",
  ];
  expect(told.splice(0)).toEqual([...failed, ...failed]);
  daemon.down = false;
  await clock.pass(100);
  expect(told).toEqual(["info libvirt: the connection is up again"]);
});

test("does not repeat a call that was in flight when the connection broke", async () => {
  const daemon = new FakeDaemon(({ header, connection, name }) => {
    if (name === "domainDestroy") return void connection.end();
    return replyTo("connectGetHostname", header, { hostname: "h" });
  });
  const libvirt = await connected(daemon, { reconnect });
  await expect(libvirt.call("domainDestroy", { dom })).rejects.toMatchObject({
    code: "LIBVIRT_CLOSED",
  });
  await libvirt.call("connectGetHostname");
  expect(daemon.calls.filter((call) => call.name === "domainDestroy")).toHaveLength(1);
});

test("leaving the loop without a connection needs no connection", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon, { reconnect });
  const events = await libvirt.subscribe(["lifecycle"]);
  daemon.down = true;
  daemon.connections[0]?.end();
  await turn();
  await events.return();
  daemon.down = false;
  await libvirt.call("domainSuspend", { dom });
  const registered = daemon.calls.filter((call) => call.name === "eventRegister");
  expect(registered).toHaveLength(1);
});

test("closing during a reconnect ends the attempts", async () => {
  const daemon = new FakeDaemon();
  const libvirt = await connected(daemon, { reconnect });
  daemon.down = true;
  daemon.connections[0]?.end();
  await turn();
  const waiting = libvirt.call("connectGetHostname");
  const failed = expect(waiting).rejects.toMatchObject({ code: "LIBVIRT_CLOSED" });
  await libvirt.close();
  await failed;
  daemon.down = false;
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(daemon.connections).toHaveLength(1);
});
