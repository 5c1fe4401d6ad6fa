import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { agent, inGuest, startGuest } from "../testing/guest-fixture.ts";
import type { DomainRef } from "./event-hub.ts";
import { connectLibvirt, type Libvirt, type LibvirtOptions } from "./libvirt.ts";

let daemon: Libvirtd;
let dom: DomainRef;
let bootId: string;
const reconnect = { firstDelay: 10, lastDelay: 200 };
const bootIdFile = "cat /proc/sys/kernel/random/boot_id";

beforeAll(async () => {
  daemon = await startLibvirtd();
  const libvirt = await connectLibvirt({ uri: daemon.uri });
  dom = await startGuest(daemon, libvirt, "vm1", { cmdline: "hb=none" });
  bootId = await inGuest(libvirt, dom, bootIdFile);
  await libvirt.close();
});

async function connected(options: Partial<LibvirtOptions> = {}): Promise<Libvirt> {
  const libvirt = await connectLibvirt({ uri: daemon.uri, ...options });
  onTestFinished(() => libvirt.close());
  return libvirt;
}

afterAll(async () => {
  await daemon?.[Symbol.asyncDispose]();
});

test.each(["KILL", "TERM"] as const)(
  "after the daemon ends with %s and returns, streams resync, calls work, and the guest is untouched",
  async (signal) => {
    const libvirt = await connected({ reconnect });
    const events = await libvirt.subscribe(["lifecycle"]);
    const command = '{"execute":"guest-ping"}';
    await daemon.kill(signal);
    const waiting = libvirt.call("domainGetInfo", { dom });
    await sleep(100);
    await daemon.restart();
    expect(await waiting).toMatchObject({ state: "running" });
    expect((await events.next()).value).toEqual({ type: "resync" });
    expect(await libvirt.call("domainLookupByName", { name: "vm1" })).toEqual({ dom });
    // Right after its return the daemon has no connection to the agent yet.
    await expect
      .poll(() => libvirt.call("qemuAgentCommand", { dom, command, timeout: 5 }), {
        timeout: 60_000,
      })
      .toMatchObject({ result: '{"return":{}}' });
    expect(await inGuest(libvirt, dom, bootIdFile)).toBe(bootId);
    await libvirt.call("domainSuspend", { dom });
    expect((await events.next()).value).toMatchObject({ type: "lifecycle", event: "suspended" });
    await libvirt.call("domainResume", { dom });
  },
);

test("without reconnect, the end of the daemon ends calls and streams", async () => {
  const libvirt = await connected();
  const events = await libvirt.subscribe(["lifecycle"]);
  const ended = expect(events.next()).rejects.toMatchObject({ code: "LIBVIRT_CLOSED" });
  await daemon.kill("KILL");
  await ended;
  await expect(libvirt.call("domainGetInfo", { dom })).rejects.toMatchObject({
    code: "LIBVIRT_CLOSED",
  });
  await expect(connectLibvirt({ uri: daemon.uri })).rejects.toMatchObject({
    code: "LIBVIRT_CONNECT",
    message: expect.stringContaining(daemon.socket),
  });
  await daemon.restart();
});

test("calls to a stopped daemon end by timeout and signal, and later answers are in order", async () => {
  const libvirt = await connected();
  await daemon.kill("STOP");
  try {
    await expect(libvirt.call("domainGetInfo", { dom }, { timeout: 50 })).rejects.toMatchObject({
      code: "LIBVIRT_TIMEOUT",
      procedure: "domainGetInfo",
    });
    const signal = AbortSignal.timeout(50);
    await expect(libvirt.call("domainGetInfo", { dom }, { signal })).rejects.toMatchObject({
      code: "LIBVIRT_ABORTED",
    });
  } finally {
    await daemon.kill("CONT");
  }
  expect(await libvirt.call("domainGetInfo", { dom })).toMatchObject({ state: "running" });
});

test("keepalive gives up a stopped daemon", async () => {
  // Not shorter: on a busy host a healthy daemon may not run for a second.
  const keepalive = { interval: 300, misses: 10 };
  const libvirt = await connected({ keepalive });
  // Longer than a daemon may be silent.
  await sleep(4_000);
  await libvirt.call("domainGetInfo", { dom });
  await daemon.kill("STOP");
  try {
    await expect(libvirt.call("domainGetInfo", { dom })).rejects.toMatchObject({
      code: "LIBVIRT_CLOSED",
      message: expect.stringContaining("keepalive"),
    });
  } finally {
    await daemon.kill("CONT");
  }
});

test("a hanging agent does not hold up the connection for others", async () => {
  const libvirt = await connected();
  const pid = (await inGuest(libvirt, dom, "cat /run/qga.pid")).trim();
  const stop = `kill -STOP ${pid}; sleep 60; kill -CONT ${pid}`;
  await agent(libvirt, dom, "guest-exec", { path: "/bin/sh", arg: ["-c", stop] });
  const command = '{"execute":"guest-ping"}';
  const giveUp = new AbortController();
  const ask = () =>
    libvirt
      .call("qemuAgentCommand", { dom, command, timeout: 60 }, { signal: giveUp.signal })
      .then(() => "answered");
  // It answers until it has been stopped. On a busy host one that has not been stopped takes seconds.
  let stuck = ask();
  while ((await Promise.race([stuck, sleep(10_000, "stuck")])) === "answered") stuck = ask();
  const order: string[] = [];
  const ended = stuck.finally(() => order.push("agent"));
  ended.catch(() => {});
  await libvirt.call("domainGetInfo", { dom }).finally(() => order.push("info"));
  expect(order).toEqual(["info"]);
  giveUp.abort();
  await expect(ended).rejects.toMatchObject({ code: "LIBVIRT_ABORTED" });
});

test("a thousand calls at once are all answered, four at a time", async () => {
  const libvirt = await connected();
  const answers = await Promise.all(
    Array.from({ length: 1000 }, () => libvirt.call("domainGetState", { dom })),
  );
  expect(new Set(answers.map(({ state }) => state))).toEqual(new Set(["running"]));
  const log = await daemon.run("cat", `${daemon.directory}/libvirtd.log`);
  expect(log).not.toContain("max requests limit");
});
