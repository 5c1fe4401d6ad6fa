import { writeFile } from "node:fs/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { connectLibvirt, type Libvirt } from "@virtkit/domain-manager/libvirt";
import { guestDomainXml, type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { destinationXml } from "./destination-xml.ts";
import { diffGuestAbi } from "./diff-guest-abi.ts";

let daemon: Libvirtd;
let libvirt: Libvirt;
let dom: Awaited<ReturnType<typeof start>>;
/** The guest as libvirt tells it, and as its target receives it. */
let live: string;
let received: string;

async function start(xml: string) {
  const { dom: defined } = await libvirt.call("domainDefineXml", { xml });
  return (await libvirt.call("domainCreate", { dom: defined })).dom;
}

beforeAll(async () => {
  daemon = await startLibvirtd();
  libvirt = await connectLibvirt({ uri: daemon.uri });
  const image = `${daemon.directory}/disk.img`;
  await writeFile(image, Buffer.alloc(1024 * 1024));
  await runProgram("chown", ["107:107", image]);
  const devices = `
    <disk type='file' device='disk'><driver name='qemu' type='raw' cache='none'/><source file='${image}'/>
      <target dev='vda' bus='virtio'/><serial>S1</serial><alias name='ua-root'/></disk>
    <interface type='user'><mac address='52:54:00:00:00:01'/><model type='virtio'/><alias name='ua-default'/></interface>
    <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>`;
  const guest = await daemon.guest();
  const definition = guestDomainXml({ name: "ns_vm", guest, cmdline: "hb=none", devices });
  dom = await start(definition);
  live = (await libvirt.call("domainGetXmlDesc", { dom, flags: ["migratable"] })).xml;
  const vmi = { metadata: {} } as VirtualMachineInstance;
  received = destinationXml({ vmi, sourceXml: live, own: parseDomain(definition) });
});

afterAll(async () => {
  await libvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

/** Whether libvirt lets the guest move to this XML, on a connection that gives its job up again. */
async function libvirtTakes(xml: string): Promise<boolean> {
  const client = await connectLibvirt({ uri: daemon.uri });
  try {
    const params = { destination_xml: xml };
    await client.call("domainMigrateBegin", { dom, params, flags: ["live", "unsafe"] });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "LIBVIRT_REMOTE" });
    return false;
  } finally {
    await client.close();
  }
}

test("libvirt finds no change to the guest's hardware in the XML made for a target", async () => {
  expect(live).toContain("<address type='pci'");
  expect(diffGuestAbi(live, received)).toEqual([]);
  expect(await libvirtTakes(received)).toBe(true);
});

test.each([
  ["memory", /<memory unit="KiB">\d+/, '<memory unit="KiB">262144'],
  ["the machine type", /machine="pc-q35-[\d.]+"/, 'machine="pc-q35-5.0"'],
  ["a MAC address", "52:54:00:00:00:01", "52:54:00:00:00:02"],
  ["a card's model", '<model type="virtio"/>', '<model type="e1000e"/>'],
  ["a disk's bus", 'dev="vda" bus="virtio"', 'dev="sda" bus="sata"'],
  ["a disk's serial", "<serial>S1</serial>", "<serial>S2</serial>"],
  ["the CPU", "qemu64", "Nehalem"],
  ["a channel's name", 'name="org.qemu.guest_agent.0"', 'name="other"'],
  ["a timer", 'name="hpet" present="no"', 'name="hpet" present="yes"'],
])("finds hardware changes before libvirt rejects them: %s", async (_what, from, to) => {
  const other = received.replace(from, to);
  expect(other).not.toBe(received);
  expect(await libvirtTakes(other)).toBe(false);
  expect(diffGuestAbi(live, other)).not.toEqual([]);
});

test.each([
  ["the path of a disk", /<source file="[^"]*"/, '<source file="/elsewhere"'],
  ["a cache mode", 'cache="none"', 'cache="writeback"'],
  ["what is behind a random number generator", "/dev/urandom", "/dev/random"],
])(
  "changes that only the host sees are not a change for libvirt either: %s",
  async (_what, from, to) => {
    const other = received.replace(from, to);
    expect(other).not.toBe(received);
    expect(diffGuestAbi(live, other)).toEqual([]);
    expect(await libvirtTakes(other)).toBe(true);
  },
);
