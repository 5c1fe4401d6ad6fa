import { describe, expect, test } from "vitest";
import { liveXml } from "../testing/live-guest.ts";
import { diffGuestAbi, requireSameAbi } from "./diff-guest-abi.ts";

const changed = (from: string, to: string): string => {
  expect(liveXml).toContain(from);
  return liveXml.replace(from, to);
};

/** What a comparison of name, machine type, CPU and memory alone would find, as people do it by eye. */
const seenByEye = (xml: string): string =>
  ["machine=", "<model fallback", "<memory ", "<vcpu "]
    .map((start) => /[^>]*>[^<]*/.exec(xml.slice(xml.indexOf(start)))?.[0] ?? "")
    .join();

describe("what a guest sees", () => {
  const visible: readonly (readonly [what: string, from: string, to: string, path: string])[] = [
    ["the machine type", "pc-q35-rhel9.6.0", "pc-q35-rhel9.4.0", "domain/os/type/@machine"],
    ["the CPU model", "Skylake-Client-IBRS", "Nehalem", "domain/cpu/model"],
    [
      "a CPU feature",
      "policy='disable' name='hle'",
      "policy='require' name='hle'",
      "domain/cpu/feature[hle]/@policy",
    ],
    ["the topology", "cores='2'", "cores='4'", "domain/cpu/topology/@cores"],
    ["the CPUs that are plugged in", "current='2'", "current='4'", "domain/vcpu/@current"],
    ["the maximum number of CPUs", ">8</vcpu>", ">16</vcpu>", "domain/vcpu"],
    ["memory", "<memory unit='KiB'>1048576", "<memory unit='KiB'>2097152", "domain/memory"],
    ["the UUID", "<uuid>5d", "<uuid>6d", "domain/uuid"],
    ["an SMBIOS field", ">abc<", ">xyz<", "domain/sysinfo[smbios]/system/entry"],
    ["secure boot", "secure='yes'", "secure='no'", "domain/os/loader/@secure"],
    ["a feature", "<apic/>", "", "domain/features/apic"],
    ["a timer", "present='no'", "present='yes'", "domain/clock/timer/@present"],
    ["the clock", "offset='utc'", "offset='localtime'", "domain/clock/@offset"],
    [
      "a disk's bus",
      "bus='virtio'/>\n      <serial",
      "bus='sata'/>\n      <serial",
      "domain/devices/disk[ua-root]/target/@bus",
    ],
    [
      "a disk's model",
      "model='virtio-non-transitional'>\n      <driver",
      "model='virtio'>\n      <driver",
      "domain/devices/disk[ua-root]/@model",
    ],
    ["a disk's serial", ">S1<", ">S2<", "domain/devices/disk[ua-root]/serial"],
    [
      "a disk's queues",
      "discard='unmap' queues='2'",
      "discard='unmap' queues='4'",
      "domain/devices/disk[ua-root]/driver/@queues",
    ],
    [
      "an address on the bus",
      "bus='0x07'",
      "bus='0x06'",
      "domain/devices/disk[ua-root]/address/@bus",
    ],
    [
      "a MAC address",
      "02:00:00:00:0a:01",
      "02:00:00:00:0a:02",
      "domain/devices/interface[ua-default]/mac/@address",
    ],
    ["an MTU", "size='1480'", "size='9000'", "domain/devices/interface[ua-default]/mtu/@size"],
    [
      "a card's model",
      "<model type='virtio-non-transitional'/>",
      "<model type='e1000'/>",
      "domain/devices/interface[ua-default]/model/@type",
    ],
    [
      "a channel's name",
      "name='org.qemu.guest_agent.0'",
      "name='other'",
      "domain/devices/channel[org.qemu.guest_agent.0]",
    ],
    [
      "a controller's model",
      "'pcie-root-port'>",
      "'pcie-to-pci-bridge'>",
      "domain/devices/controller[pci-1]/@model",
    ],
    [
      "a port of the chipset",
      "chassis='1'",
      "chassis='2'",
      "domain/devices/controller[pci-1]/target/@chassis",
    ],
    ["video memory", "vram='16384'", "vram='8192'", "domain/devices/video/model/@vram"],
    [
      "the model of a host device",
      "model='vfio-pci'",
      "model='vfio-ap'",
      "domain/devices/hostdev[ua-gpu]/@model",
    ],
    ["an argument of QEMU", "-sandbox", "-nodefaults", "domain/qemu:commandline/qemu:arg/@value"],
    ["an unknown element", "<on_poweroff>", "<future/><on_poweroff>", "domain/future"],
  ];

  test.each(visible)("%s is found", (_what, from, to, path) => {
    const changes = diffGuestAbi(liveXml, changed(from, to));
    expect(changes.map((change) => change.path)).toContain(path);
    expect(() => requireSameAbi(liveXml, changed(from, to))).toThrow(
      expect.objectContaining({ code: "MIGRATION_ABI_CHANGED" }),
    );
  });

  test("is more than people compare by eye", () => {
    const missed = visible.filter(
      ([, from, to]) => seenByEye(liveXml.replace(from, to)) === seenByEye(liveXml),
    );
    expect(missed.length).toBeGreaterThan(20);
  });

  test("a device on one side only is named", () => {
    const without = liveXml.replace(/<rng[\s\S]*<\/rng>/, "");
    const path = "domain/devices/rng";
    expect(diffGuestAbi(liveXml, without)).toEqual([{ path, source: '<rng model="virtio">' }]);
    expect(diffGuestAbi(without, liveXml)).toEqual([{ path, target: '<rng model="virtio">' }]);
  });

  test("a second device with the same name does not hide behind the first", () => {
    const disk = /<disk[\s\S]*?<\/disk>/.exec(liveXml)?.[0] ?? "";
    const twice = liveXml.replace(disk, disk + disk);
    expect(diffGuestAbi(liveXml, twice)).toMatchObject([
      { path: "domain/devices/disk[ua-root]#1" },
    ]);
  });
});

describe("what only the host sees", () => {
  test.each([
    ["a path", "/source/disk.qcow2", "/elsewhere"],
    ["the kind of an image", "type='qcow2' cache", "type='raw' cache"],
    ["a cache mode", "cache='none'", "cache='writeback'"],
    ["the file behind a disk", "/source/disk_0.img", "/elsewhere"],
    ["a TAP device", "tap-source", "tap7"],
    ["whether vhost is used", "name='vhost'", "name='qemu'"],
    ["a socket", "/source/virt-serial0", "/elsewhere"],
    ["a display", "/source/virt-vnc", "/elsewhere"],
    ["pinning", "cpuset='3'", "cpuset='64'"],
    ["hugepages", "<memoryBacking>", "<memoryBacking><hugepages/>"],
    ["where the firmware is", "/source/OVMF_CODE.fd", "/elsewhere"],
    ["the emulator", "/source/qemu-kvm", "/elsewhere"],
    ["which host device it is", "11111111-", "22222222-"],
    ["whether somebody is connected", "state='connected'", "state='disconnected'"],
    ["a run-time id", "id='1'", "id='9'"],
    ["labels", "+107:+107", "+1:+1"],
  ])("%s is ignored", (_what, from, to) => {
    expect(diffGuestAbi(liveXml, changed(from, to))).toEqual([]);
  });

  test("ignores units, leading zeros and the case of an address", () => {
    const same = liveXml
      .replace("<memory unit='KiB'>1048576", "<memory unit='GiB'>1")
      .replace("<currentMemory unit='KiB'>", "<currentMemory>")
      .replace("bus='0x07' slot='0x00'", "bus='0x7' slot='0x0'")
      .replace("02:00:00:00:0a:01", "02:00:00:00:0a:01".toUpperCase());
    expect(diffGuestAbi(liveXml, same)).toEqual([]);
  });
});

test("an unreadable document is an error, not equality", () => {
  expect(() => diffGuestAbi(liveXml, "<domain")).toThrow(
    expect.objectContaining({ code: "MIGRATION_XML_INVALID", path: "the target's XML" }),
  );
  expect(() => diffGuestAbi("<network/>", liveXml)).toThrow(/must be a <domain>/);
});
