import { ManualClock } from "@virtkit/api/clock";
import { expect, onTestFinished, test } from "vitest";
import { connectLibvirt } from "../libvirt/libvirt.ts";
import { type EventType, events as eventTable } from "../libvirt/protocol/events.ts";
import { FakeDaemon, type ReceivedCall, refusalOf } from "../testing/fake-daemon.ts";
import { watchDomain } from "./domain-watcher.ts";
import type { GuestEvent } from "./guest-event.ts";

const dom = { name: "ns_vm", uuid: "00000000-0000-4000-8000-000000000001", id: 1 };

/** What the test's daemon says about its only domain. */
interface World {
  state: "running" | "paused" | "shutoff" | "absent";
  reason: number;
  agent: "connected" | "disconnected";
  hostname: string | undefined;
}

function answer(world: World, call: ReceivedCall): object | Buffer | undefined {
  switch (call.name) {
    case "domainLookupByName":
      return world.state === "absent"
        ? refusalOf(call.header, 42)
        : { dom: { ...dom, id: world.state === "shutoff" ? -1 : 1 } };
    case "domainGetState":
      return { state: world.state, reason: world.reason };
    case "domainGetXmlDesc":
      return {
        xml: `<domain><name>ns_vm</name><devices><channel type='unix'><target type='virtio'
          name='org.qemu.guest_agent.0' state='${world.agent}'/></channel></devices></domain>`,
      };
    case "qemuAgentCommand": {
      const { command } = call.args as { command: string };
      if (world.hostname !== undefined && command.includes("host-name")) {
        return { result: JSON.stringify({ return: { "host-name": world.hostname } }) };
      }
      return refusalOf(call.header, 1);
    }
    default:
      return {};
  }
}

async function watching(first: Partial<World> = {}) {
  const world: World = {
    ...{ state: "absent", reason: 0, agent: "disconnected", hostname: undefined },
    ...first,
  };
  const daemon = new FakeDaemon((call) => answer(world, call));
  const clock = new ManualClock();
  const reconnect = { firstDelay: 1, lastDelay: 1 };
  const libvirt = await connectLibvirt({ uri: "test:///", dial: daemon.dial, reconnect });
  const watcher = await watchDomain({ libvirt, name: dom.name, clock, now: () => "t" });
  onTestFinished(async () => {
    await watcher[Symbol.asyncDispose]();
    await libvirt.close();
  });
  const events: GuestEvent[] = [];
  void (async () => {
    for await (const event of watcher.events()) events.push(event);
  })().catch(() => {});
  /** Something happens, and libvirt reports it: by default with an event without information. */
  const happens = async (
    change: Partial<World>,
    type: EventType = "lifecycle",
    fields: object = { event: "resumed", detail: 0 },
  ): Promise<void> => {
    Object.assign(world, change);
    daemon.connections.at(-1)?.event(type, callbackOf(daemon, type), { dom, ...fields });
    await clock.pass(0);
  };
  await clock.pass(0);
  return { world, daemon, clock, watcher, events, happens, libvirt };
}

/** The number of the last registration for an event: the daemon counts them. */
function callbackOf(daemon: FakeDaemon, type: EventType): number {
  const registered = daemon.calls.filter(({ name }) => name === "eventRegister");
  const ids = registered.map(({ args }) => (args as { event: number }).event);
  return ids.lastIndexOf(eventTable[type].id) + 1;
}

const kinds = (events: readonly GuestEvent[]): string[] =>
  events.map((event) => {
    if (event.kind === "status") return `${event.status.state} ${event.status.reason}`;
    if (event.kind === "stage") return event.stage;
    return event.kind === "incident" ? event.reason : event.kind;
  });

test("a subscription begins with the status; a guest starts, is paused, resumes and ends", async () => {
  const { events, happens, watcher } = await watching();
  await happens({ state: "running" });
  await happens({ state: "paused", reason: 1 });
  await happens({ state: "running" });
  await happens({ state: "shutoff", reason: 1 });
  await happens({ state: "absent" });
  expect(kinds(events)).toEqual([
    "Absent NonExistent",
    ...["Running Unknown", "guest-running", "ready"],
    "Paused User",
    "Running Unknown",
    "Shutoff Shutdown",
    "Absent NonExistent",
  ]);
  expect(watcher.status.state).toBe("Absent");
});

test("an event that changes nothing reaches nobody", async () => {
  const { events, happens, watcher } = await watching({ state: "running" });
  const { status } = watcher;
  for (let i = 0; i < 5; i++) await happens({});
  expect(kinds(events)).toEqual(["Running Unknown"]);
  expect(watcher.status).toBe(status);
});

test("asks a connected agent and puts its answers into the status; leaves it alone while paused", async () => {
  const { events, happens, watcher, clock, daemon, world } = await watching({ state: "running" });
  world.hostname = "one";
  await happens({ agent: "connected" });
  expect(watcher.status).toMatchObject({ agent: "connected", hostname: "one" });
  expect(kinds(events)).toContain("agent-connected");
  await happens({ state: "paused", reason: 1 });
  const asked = daemon.calls.length;
  await clock.pass(600_000);
  expect(daemon.calls.length).toBe(asked);
  expect(watcher.status.hostname).toBe("one");
  await happens({ state: "running", hostname: "two" });
  expect(watcher.status.hostname).toBe("two");
  await happens({ agent: "disconnected" });
  expect(watcher.status).toMatchObject({ agent: "disconnected", hostname: "two" });
});

test("reports stages and incidents from elsewhere, too, a stage only once", async () => {
  const { events, watcher, happens } = await watching({ state: "shutoff" });
  watcher.tell({ kind: "stage", stage: "domain-defined", state: "done" });
  watcher.tell({ kind: "stage", stage: "guest-running", state: "done" });
  await happens({ state: "running" });
  watcher.tell({ kind: "incident", reason: "GuestAgentPingFailed", message: "m" });
  watcher.learn({ kind: "access", synced: true });
  await happens({}, "lifecycle", { event: "crashed", detail: 0 });
  expect(kinds(events)).toEqual([
    "Shutoff Unknown",
    ...["domain-defined", "guest-running", "Running Unknown", "ready"],
    ...["GuestAgentPingFailed", "Running Unknown", "GuestPanicked"],
  ]);
  expect(watcher.status.accessCredentials).toEqual({ synced: true });
});

test("distinguishes a QEMU that a signal ended from a guest that powered itself off", async () => {
  for (const [detail, signalled] of [
    [1, undefined],
    [2, true],
  ] as const) {
    const { watcher, happens } = await watching({ state: "running" });
    await happens({}, "lifecycle", { event: "shutdown", detail });
    await happens({ state: "shutoff", reason: 1 });
    expect(watcher.status.signalled).toBe(signalled);
  }
});

test("a failing disk is one incident for all its requests, and another one after the guest ran again", async () => {
  const { events, happens } = await watching({ state: "running" });
  const failed = { source: "/x", alias: "ua-root", action: "pause", reason: "enospc" };
  for (let i = 0; i < 3; i++) await happens({}, "ioError", failed);
  await happens({ state: "paused", reason: 5 });
  await happens({}, "ioError", failed);
  await happens({ state: "running", reason: 0 });
  // This time the event itself is missed.
  await happens({ state: "paused", reason: 5 });
  await happens({}, "watchdog", { action: "reset" });
  expect(kinds(events)).toEqual([
    "Running Unknown",
    "IOerror",
    "Paused IOError",
    "Running Unknown",
    "Paused IOError",
    ...["IOerror", "Watchdog"],
  ]);
});

test("looks at events of other domains and devices only for what they change", async () => {
  const { events, happens, daemon } = await watching({ state: "running" });
  const looks = () => daemon.calls.filter(({ name }) => name === "domainGetXmlDesc").length;
  const before = looks();
  const other = { dom: { ...dom, name: "other" }, event: "stopped", detail: 0 };
  await happens({}, "lifecycle", other);
  expect(looks()).toBe(before);
  await happens({}, "deviceRemoved", { alias: "ua-x" });
  await happens({}, "memoryDeviceSizeChange", { alias: "m", size: 1n });
  expect(looks()).toBe(before + 2);
  expect(kinds(events)).toEqual(["Running Unknown"]);
});

test("after the daemon returns: resync, then the present state, and events continue", async () => {
  const { events, happens, daemon, world, watcher } = await watching({ state: "running" });
  world.state = "shutoff";
  world.reason = 3;
  daemon.connections.at(-1)?.end();
  await expect.poll(() => kinds(events), { timeout: 20_000 }).toContain("resync");
  expect(kinds(events)).toEqual(["Running Unknown", "resync", "Shutoff Crashed"]);
  await happens({ state: "running", reason: 0 });
  expect(watcher.status.state).toBe("Running");
});

test("a look shows what the caller has changed", async () => {
  const { watcher, world } = await watching({ state: "running" });
  world.state = "paused";
  const looks = await Promise.all([watcher.refresh(), watcher.refresh(), watcher.refresh()]);
  expect(looks.map(({ state }) => state)).toEqual(["Paused", "Paused", "Paused"]);
});

test("a look at a silent daemon fails in time, and says why", async () => {
  const { watcher, daemon, clock } = await watching({ state: "running" });
  daemon.down = true;
  daemon.connections.at(-1)?.end();
  const look = watcher.refresh({ timeout: 100 });
  const failed = expect(look).rejects.toMatchObject({
    code: "DOMAIN_LIBVIRT",
    message: expect.stringMatching(/ns_vm could not be read within 100 ms: \w/),
  });
  await clock.pass(100);
  await failed;
  daemon.down = false;
});

test("subscriptions end with their signal, and with the watcher", async () => {
  const { watcher } = await watching();
  const stop = new AbortController();
  const own = watcher.events({ signal: stop.signal });
  await own.next();
  stop.abort();
  expect(await own.next()).toMatchObject({ done: true });
  const other = watcher.events();
  await other.next();
  await watcher[Symbol.asyncDispose]();
  expect(await other.next()).toMatchObject({ done: true });
});

test("subscriptions throw if libvirt is gone for good", async () => {
  const daemon = new FakeDaemon((call) => answer({ ...absent }, call));
  const libvirt = await connectLibvirt({ uri: "test:///", dial: daemon.dial });
  const watcher = await watchDomain({ libvirt, name: dom.name });
  const events = watcher.events();
  await events.next();
  const ended = expect(events.next()).rejects.toMatchObject({ code: "DOMAIN_LIBVIRT" });
  daemon.connections.at(-1)?.end();
  await ended;
});

const absent: World = {
  ...{ state: "absent", reason: 0, agent: "disconnected", hostname: undefined },
};
