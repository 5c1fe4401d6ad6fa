import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, createImage, inGuest, startGuest, untilAgent } from "../testing/guest-fixture.ts";
import { recordingDial } from "../testing/recording-dial.ts";
import type { DomainRef } from "./event-hub.ts";
import type { EventItem } from "./event-stream.ts";
import { connectLibvirt, type Libvirt } from "./libvirt.ts";
import { lifecycleDetail } from "./protocol/enums.ts";
import { type EventType, events as eventTable } from "./protocol/events.ts";

let daemon: Libvirtd;
let libvirt: Libvirt;
const inbox: EventItem[] = [];
let dom: DomainRef;
const seen = new Set<string>();

beforeAll(async () => {
  daemon = await startLibvirtd();
  libvirt = await connectLibvirt({ uri: daemon.uri, dial: recordingDial });
  const events = await libvirt.subscribe(Object.keys(eventTable) as EventType[]);
  void (async () => {
    for await (const item of events) inbox.push(item);
  })();
  const image = await createImage(daemon, "cd.img", "ext4", "4M");
  await daemon.run("mkdir", `${daemon.directory}/small`);
  // A file system that is full at once, so that the guest runs out of space.
  await daemon.runAsRoot(
    ...([
      "mount",
      "-t",
      "tmpfs",
      "-o",
      "size=1m,uid=107,mode=777",
      "lab",
      `${daemon.directory}/small`,
    ] as const),
  );
  await daemon.run(
    "qemu-img",
    "create",
    "-q",
    "-f",
    "qcow2",
    `${daemon.directory}/small/full.qcow2`,
    "16M",
  );
  dom = await startGuest(daemon, libvirt, "vm1", {
    cmdline: "hb=none",
    // With memory hotplug, the kernel reserves 64 MiB for itself: less would not boot.
    memoryMiB: 256,
    adapt: (xml) =>
      xml
        .replace("<vcpu", "<maxMemory slots='2' unit='MiB'>1024</maxMemory><vcpu")
        .replace("</cpu>", "<numa><cell id='0' cpus='0-1' memory='256' unit='MiB'/></numa></cpu>"),
    devices: `
      <controller type='scsi' index='0' model='virtio-scsi'/>
      <disk type='file' device='cdrom'>
        <driver name='qemu' type='raw'/><source file='${image}'/><target dev='sda' bus='scsi'/>
        <readonly/><alias name='ua-cd'/>
      </disk>
      <disk type='file' device='disk'>
        <driver name='qemu' type='qcow2' error_policy='stop'/>
        <source file='${daemon.directory}/small/full.qcow2'/><target dev='vda' bus='virtio'/>
        <alias name='ua-full'/>
      </disk>
      <watchdog model='i6300esb' action='none'/>
      <graphics type='vnc'><listen type='socket' socket='${daemon.directory}/vnc.sock'/></graphics>
      <video><model type='vga'/></video>`,
  });
});

afterAll(async () => {
  await libvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

/** Reads events until one has all the given values. */
async function until(wanted: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
  const end = Date.now() + 60_000;
  for (;;) {
    const item = inbox.shift();
    if (item) seen.add(item.type);
    else if (Date.now() > end) throw new Error("there was no such event in a minute");
    else await sleep(10);
    const fields = (item ?? {}) as Readonly<Record<string, unknown>>;
    if (Object.entries(wanted).every(([name, value]) => fields[name] === value)) return fields;
  }
}

test("reports the start of a guest: defined, started, agent connected", async () => {
  expect(await until({ type: "lifecycle", event: "defined" })).toMatchObject({ detail: 0 });
  const started = await until({ type: "lifecycle", event: "started" });
  expect(lifecycleDetail("started", started["detail"] as number)).toBe("booted");
  expect(started["dom"]).toEqual(dom);
  await until({ type: "agentLifecycle", state: "connected", reason: "channel" });
});

test("reports suspend and resume", async () => {
  await libvirt.call("domainSuspend", { dom });
  await until({ type: "lifecycle", event: "suspended", detail: 0 });
  await libvirt.call("domainResume", { dom });
  await until({ type: "lifecycle", event: "resumed", detail: 0 });
});

test("reports added and removed devices", async () => {
  const path = await createImage(daemon, "extra.img", "raw", "1M");
  const xml = `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${path}'/>
    <target dev='vdx' bus='virtio'/><alias name='ua-extra'/></disk>`;
  await libvirt.call("domainAttachDevice", { dom, xml });
  await until({ type: "deviceAdded", alias: "ua-extra" });
  await libvirt.call("domainDetachDevice", { dom, xml });
  await until({ type: "deviceRemoved", alias: "ua-extra" });
});

test("reports a device that the guest does not release", async () => {
  const xml = `<memory model='dimm'><target><size unit='MiB'>128</size><node>0</node></target>
    <alias name='ua-dimm'/></memory>`;
  await libvirt.call("domainAttachDevice", { dom, xml });
  // The kernel's own data, which cannot be moved away, goes to the memory above 4 GiB first.
  while (Number(await inGuest(libvirt, dom, "free -m | awk '/Mem/{print $2}'")) < 256)
    await sleep(100);
  await inGuest(libvirt, dom, "mkdir /tmp/fill; cd /tmp/fill; mkdir $(seq 1 20000)");
  await expect(libvirt.call("domainDetachDevice", { dom, xml })).rejects.toMatchObject({
    code: "LIBVIRT_REMOTE",
  });
  await until({ type: "deviceRemovalFailed", alias: "ua-dimm" });
});

test("reports memory: the balloon, and a device whose size the guest changes", async () => {
  await libvirt.call("domainSetMemory", { dom, memory: 240 * 1024, flags: ["live"] });
  await until({ type: "balloonChange", actual: 245760n });
  const xml = `<memory model='virtio-mem'><target><size unit='MiB'>128</size><node>0</node>
    <block unit='MiB'>2</block><requested unit='MiB'>64</requested></target><alias name='ua-mem'/></memory>`;
  await libvirt.call("domainAttachDevice", { dom, xml });
  await until({ type: "memoryDeviceSizeChange", alias: "ua-mem", size: 65536n });
});

test("metadata", async () => {
  await libvirt.call("domainSetMetadata", { dom, type: "title", metadata: "t" });
  await until({ type: "metadataChange", kind: "title" });
  await libvirt.call("domainSetMetadata", {
    dom,
    type: "element",
    metadata: "<a/>",
    key: "k",
    uri: "http://example.org/x",
  });
  await until({ type: "metadataChange", kind: "element", uri: "http://example.org/x" });
});

test("reports an emptied drive", async () => {
  const xml = `<disk type='file' device='cdrom'><target dev='sda' bus='scsi'/><readonly/></disk>`;
  await libvirt.call("domainUpdateDevice", { dom, xml, flags: ["live", "force"] });
  await until({ type: "trayChange", alias: "ua-cd", reason: "open" });
});

test("reports a viewer that comes and goes", async () => {
  const viewer = connect(`${daemon.directory}/vnc.sock`);
  await once(viewer, "data");
  for (const answer of ["RFB 003.008\n", "\x01", "\x01"]) {
    viewer.write(answer, "latin1");
    await once(viewer, "data");
  }
  const initialized = await until({ type: "graphics", phase: "initialize" });
  expect(initialized).toMatchObject({ local: { family: "unix" }, authScheme: "none" });
  viewer.destroy();
  await until({ type: "graphics", phase: "disconnect" });
});

test("reports that the guest sets its hardware clock", async () => {
  await inGuest(libvirt, dom, "date -s @2000000000 >/dev/null; hwclock -w -u 2>&1");
  const change = await until({ type: "rtcChange" });
  expect(change["offset"]).toBeTypeOf("bigint");
});

test("reports the watchdog", async () => {
  // The guest has no driver for it: open its registers, set both stages short, and let it expire.
  const poke = `
    d=$(grep -l 0x25ab /sys/bus/pci/devices/*/device); d=\${d%/device}; echo 1 > $d/enable
    read base end flags < $d/resource
    reg() { devmem $((base + 12)) 16 0x80; devmem $((base + 12)) 16 0x86; devmem $((base + $1)) 32 $2; }
    printf '\\x04\\x00' | dd of=$d/config bs=2 seek=48 conv=notrunc
    reg 0 0x1000; reg 4 0x1000
    printf '\\x02' | dd of=$d/config bs=1 seek=104 conv=notrunc`;
  await inGuest(libvirt, dom, poke);
  await until({ type: "watchdog", action: "none" });
});

test("reports that a block copy is ready", async () => {
  const file = await createImage(daemon, "copy.qcow2", "qcow2", "16M");
  await libvirt.call("domainBlockCopy", {
    dom,
    path: "vda",
    destination: `<disk type='file'><source file='${file}'/><driver type='qcow2'/></disk>`,
    flags: ["reuseExternal", "transientJob"],
  });
  await until({ type: "blockJob", disk: "vda", job: "copy", status: "ready" });
  await libvirt.call("domainBlockJobAbort", { dom, path: "vda" });
  await until({ type: "blockJob", status: "canceled" });
});

test("without space the guest is paused, and the error says why", async () => {
  const script = "dd if=/dev/urandom of=/dev/vda bs=1M count=8 oflag=direct";
  await agent(libvirt, dom, "guest-exec", { path: "/bin/sh", arg: ["-c", script] });
  const error = await until({ type: "ioError" });
  expect(error).toMatchObject({ alias: "ua-full", action: "pause", reason: "enospc" });
  await until({ type: "lifecycle", event: "suspended", detail: 2 });
});

test("reports a reboot", { timeout: 180_000 }, async () => {
  // Failed writes are retried forever: only a new start gets the guest out of it.
  await libvirt.call("domainDestroy", { dom });
  ({ dom } = await libvirt.call("domainCreate", { dom }));
  await untilAgent(libvirt, dom);
  await libvirt.call("domainReboot", { dom, flags: ["guestAgent"] });
  await until({ type: "reboot" });
});

test("reports the end of a guest", async () => {
  await libvirt.call("domainDestroy", { dom });
  await until({ type: "lifecycle", event: "stopped", detail: 1 });
  await libvirt.call("domainUndefine", { dom });
  await until({ type: "lifecycle", event: "undefined", detail: 0 });
});

test("every event has occurred, except those of a migration", () => {
  const elsewhere = ["migrationIteration", "jobCompleted"];
  const missing = Object.keys(eventTable).filter(
    (type) => !seen.has(type) && !elsewhere.includes(type),
  );
  expect(missing).toEqual([]);
});
