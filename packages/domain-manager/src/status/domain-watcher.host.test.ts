import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { connectLibvirt, type Libvirt } from "../libvirt/libvirt.ts";
import { agent, createImage, inGuest, startGuest, untilAgent } from "../testing/guest-fixture.ts";
import type { DomainStatus } from "./domain-status.ts";
import { type DomainWatcher, watchDomain } from "./domain-watcher.ts";
import type { GuestEvent } from "./guest-event.ts";

const name = "ns_watched";
const patience = { timeout: 100_000, interval: 50 };

let daemon: Libvirtd;
let libvirt: Libvirt;
let watcher: DomainWatcher;
let dom: DomainRef;
const events: GuestEvent[] = [];

beforeAll(async () => {
  daemon = await startLibvirtd();
  const reconnect = { firstDelay: 10, lastDelay: 200 };
  libvirt = await connectLibvirt({ uri: daemon.uri, reconnect });
  watcher = await watchDomain({ libvirt, name, intervals: { system: 1_000, fsFreeze: 500 } });
  void (async () => {
    for await (const event of watcher.events()) events.push(event);
  })();
  const image = await createImage(daemon, "root.img", "ext4", "16M");
  dom = await startGuest(daemon, libvirt, name, {
    cmdline: "hb=none",
    memoryMiB: 256,
    devices: `
      <disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${image}'/>
        <target dev='vda' bus='virtio'/><alias name='ua-root'/></disk>
      <interface type='user'><mac address='02:00:00:00:00:07'/><model type='virtio'/>
        <alias name='ua-default'/></interface>`,
  });
});

afterAll(async () => {
  await watcher?.[Symbol.asyncDispose]();
  await libvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

/** Waits until the status has what is expected. */
async function until(expected: Partial<DomainStatus>): Promise<void> {
  await expect.poll(() => watcher.status, patience).toMatchObject(expected);
}

/** Events since the last call, by name. */
function told(): string[] {
  return events.splice(0).map((event) => {
    if (event.kind === "status") return `${event.status.state} ${event.status.reason}`;
    if (event.kind === "stage") return `${event.stage} ${event.state}`;
    return event.kind === "incident" ? event.reason : event.kind;
  });
}

/** Without statuses that differ in something else than the state. */
const steps = (list: readonly string[]): string[] =>
  list.filter((step, index) => step !== list[index - 1]);

test("a guest that did not exist starts, and its agent connects", async () => {
  await until({ state: "Running", agent: "connected", hostname: "guest" });
  const found = steps(told());
  expect(found[0]).toBe("Absent NonExistent");
  expect(found.filter((step) => step.endsWith(" done"))).toEqual([
    "guest-running done",
    "ready done",
    "agent-connected done",
  ]);
  expect(watcher.status).toMatchObject({
    uuid: dom.uuid,
    disks: [{ volume: "root", target: "vda" }],
    interfaces: [{ name: "default", mac: "02:00:00:00:00:07", queueCount: 1 }],
  });
});

test("the status contains what the guest reports about itself, including addresses", async () => {
  await inGuest(libvirt, dom, "ip link set eth0 up; ip addr replace 10.9.8.7/24 dev eth0");
  await until({ fsFreeze: "thawed", timezone: expect.stringMatching(/, 0$/) as unknown as string });
  await expect
    .poll(() => watcher.status.interfaces[0], patience)
    .toMatchObject({ interfaceName: "eth0", ips: expect.arrayContaining(["10.9.8.7"]) });
  expect(watcher.status.os).toMatchObject({ machine: "x86_64" });
  expect(watcher.status.agentCommands).toContain("guest-exec");
  await expect
    .poll(() => watcher.lists.fileSystems, patience)
    .toMatchObject([{ mountPoint: "/mnt/vda" }]);
});

test("paused and resumed", async () => {
  told();
  await libvirt.call("domainSuspend", { dom });
  await until({ state: "Paused", reason: "User" });
  await libvirt.call("domainResume", { dom });
  await until({ state: "Running" });
  expect(steps(told()).slice(-2)).toEqual(["Paused User", "Running Unknown"]);
});

test("libvirtd killed under a running guest: the status is rebuilt, and events continue", async () => {
  told();
  await daemon.kill("KILL");
  await daemon.restart();
  await expect.poll(() => events.map(({ kind }) => kind), patience).toContain("resync");
  await until({ state: "Running", agent: "connected", hostname: "guest" });
  const [resync] = events.flatMap(({ kind }, index) => (kind === "resync" ? [index] : []));
  expect(events[(resync ?? 0) + 1]).toMatchObject({ kind: "status", status: { state: "Running" } });
  await libvirt.call("domainSuspend", { dom });
  await until({ state: "Paused" });
  await libvirt.call("domainResume", { dom });
  await until({ state: "Running" });
});

test("a second watcher, as in a restarted launcher, finds the same status", async () => {
  const second = await watchDomain({ libvirt, name });
  onTestFinished(async () => await second[Symbol.asyncDispose]());
  expect(second.status).toMatchObject({ state: "Running", agent: "connected" });
  await expect.poll(() => second.status, patience).toMatchObject({ hostname: "guest" });
  const { os, disks } = watcher.status;
  await expect.poll(() => second.status, patience).toMatchObject({ os, disks });
});

test("a guest that powers itself off", async () => {
  await untilAgent(libvirt, dom);
  told();
  const poweroff = { path: "/bin/sh", arg: ["-c", "sync; sleep 1; poweroff -f"] };
  await agent(libvirt, dom, "guest-exec", poweroff);
  await until({ state: "Shutoff", reason: "Shutdown", agent: "disconnected" });
  expect(watcher.status).not.toHaveProperty("hostname");
  expect(told()).not.toContain("resync");
});

test("QEMU killed", async () => {
  await libvirt.call("domainCreate", { dom });
  await until({ state: "Running" });
  told();
  // The brackets keep the pattern from matching itself.
  const pids = (await daemon.runAsRoot("pgrep", "-f", `[g]uest=${name}`)).trim().split("\n");
  await daemon.runAsRoot("kill", "-9", ...pids);
  await until({ state: "Shutoff", reason: "Crashed" });
  expect(told().at(-1)).toBe("Shutoff Crashed");
});

test("a domain that is gone", async () => {
  await libvirt.call("domainUndefine", { dom });
  await until({ state: "Absent", reason: "NonExistent" });
  expect(watcher.status).not.toHaveProperty("uuid");
});
