import { ManualClock } from "@virtkit/api/clock";
import { parseDomain } from "@virtkit/converter";
import { expect, test } from "vitest";
import { devicesToUnplug, plugHostDevices, unplugHostDevices } from "./unplug-host-devices.ts";

const device = (name: string, bus: string): string =>
  `<hostdev mode="subsystem" type="pci" managed="no"><source><address domain="0x0000" bus="${bus}" slot="0x10" function="0x0"/></source><alias name="ua-${name}"/></hostdev>`;
const withDevices = (devices: readonly string[]): string =>
  `<domain type="kvm"><name>ns_vm</name><memory unit="b">1</memory><os><type>hvm</type></os><devices>${devices.join("")}</devices></domain>`;

const function1 = device("sriov-net1", "0x81");
const function2 = device("sriov-net2", "0x82");
const gpu = device("gpu1", "0x01");

/** A guest with devices of the host that lets go of them when it likes. */
class PluggedLibvirt {
  plugged: string[];
  /** What it does not let go of. */
  keeps: string | undefined;
  readonly calls: string[] = [];

  constructor(...plugged: string[]) {
    this.plugged = plugged;
  }

  readonly call = async (name: string, { xml = "" }: { xml?: string }): Promise<unknown> => {
    if (name === "domainGetXmlDesc") return { xml: withDevices(this.plugged) };
    const bus = /bus="(0x\w+)"/.exec(xml)?.[1] ?? "";
    this.calls.push(`${name} ${bus}`);
    if (name === "domainDetachDevice" && bus !== this.keeps) {
      this.plugged = this.plugged.filter((each) => !each.includes(bus));
    }
    if (name === "domainAttachDevice") this.plugged.push(xml);
    return {};
  };
}

const dom = { name: "ns_vm", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223", id: 1 };
const guestOf = (libvirt: PluggedLibvirt, clock = new ManualClock()) => ({
  ...{ libvirt: libvirt as never, dom, clock, timeout: 1_000 },
});

test("unplugs virtual functions and nothing else", () => {
  const found = devicesToUnplug(parseDomain(withDevices([function1, gpu, function2])));
  expect(found.map(({ alias }) => alias?.name)).toEqual(["ua-sriov-net1", "ua-sriov-net2"]);
});

test("a guest releases them before it moves, and gets them back if it stays", async () => {
  const libvirt = new PluggedLibvirt(function1, gpu, function2);
  const devices = devicesToUnplug(parseDomain(withDevices(libvirt.plugged)));
  await unplugHostDevices(guestOf(libvirt), devices);
  expect(libvirt.plugged).toEqual([gpu]);
  await plugHostDevices(guestOf(libvirt), devices);
  expect(libvirt.plugged).toHaveLength(3);
  await plugHostDevices(guestOf(libvirt), devices);
  expect(libvirt.plugged).toHaveLength(3);
});

test("one that the guest keeps stops the migration, and the others are plugged back in", async () => {
  const libvirt = new PluggedLibvirt(function1, function2);
  libvirt.keeps = "0x82";
  const clock = new ManualClock();
  const devices = devicesToUnplug(parseDomain(withDevices(libvirt.plugged)));
  const unplugged = unplugHostDevices(guestOf(libvirt, clock), devices);
  const refused = expect(unplugged).rejects.toMatchObject({ code: "MIGRATION_NOT_NOW" });
  await clock.pass(2_000);
  await refused;
  expect(libvirt.plugged).toHaveLength(2);
  expect(libvirt.calls.at(-1)).toBe("domainAttachDevice 0x81");
});

test("a guest without any is not asked", async () => {
  const libvirt = new PluggedLibvirt(gpu);
  await unplugHostDevices(guestOf(libvirt), []);
  expect(libvirt.calls).toEqual([]);
});
