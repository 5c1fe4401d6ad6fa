import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { type DeviceMetadataOptions, deviceMetadata } from "./device-metadata.ts";
import { readLiveDevices } from "./live-devices.ts";

type Domain = VirtualMachineInstance["spec"]["domain"];

const address = (bus: string) =>
  `<address type="pci" domain="0x0000" bus="0x${bus}" slot="0x00" function="0x1"/>`;
const nic = (alias: string, bus = "01") =>
  `<interface><mac address="02:00:00:00:00:${bus}"/><alias name="ua-${alias}"/>${address(bus)}</interface>`;
const hostdev = (alias: string, bus = "04") =>
  `<hostdev><source>${address("81")}</source><alias name="ua-${alias}"/>${address(bus)}</hostdev>`;

function metadata(domain: Domain, devices: string, options?: DeviceMetadataOptions) {
  const pins = '<cputune><vcpupin vcpu="3" cpuset="11"/><vcpupin vcpu="4" cpuset="12"/></cputune>';
  const live = readLiveDevices(`<domain>${pins}<devices>${devices}</devices></domain>`);
  return deviceMetadata({ spec: { domain } }, live, options);
}

test("lists interfaces in the order of the live domain, then host devices", () => {
  const devices = {
    interfaces: [
      { name: "a", tag: "first" },
      { name: "b", tag: "second" },
      { name: "c" },
      { name: "sr", sriov: {}, tag: "fast" },
    ],
  };
  const live = nic("b", "02") + nic("a", "01") + nic("c", "03") + hostdev("sriov-sr");
  expect(metadata({ cpu: {}, devices }, live)).toMatchObject([
    {
      type: "nic",
      bus: "pci",
      address: "0000:02:00.1",
      mac: "02:00:00:00:00:02",
      tags: ["second"],
    },
    { type: "nic", address: "0000:01:00.1", tags: ["first"] },
    { type: "nic", address: "0000:04:00.1", tags: ["fast"] },
  ]);
});

test("a GPU's tag reaches the guest, unless KubeVirt's behaviour is requested", () => {
  const devices = { gpus: [{ name: "g", deviceName: "v/g", tag: "gpu" }] };
  expect(metadata({ cpu: {}, devices }, hostdev("gpu-g"))).toMatchObject([
    { type: "hostdev", tags: ["gpu"] },
  ]);
  expect(metadata({ cpu: {}, devices }, hostdev("gpu-g"), { gpusAsHostDevices: true })).toEqual([]);
});

test("reports what is near a device: its NUMA node, or the vCPUs that are pinned there", () => {
  const devices = { hostDevices: [{ name: "d", deviceName: "v/x", tag: "t" }] };
  const topology = { numaNode: () => 1, nearbyCpus: () => [11, 12, 99] };
  const near = (cpu: NonNullable<Domain["cpu"]>) =>
    metadata({ cpu, devices }, hostdev("hostdevice-d"), { topology })[0];
  expect(
    near({ numa: { guestMappingPassthrough: {} }, dedicatedCpuPlacement: true })?.numaNode,
  ).toBe(1);
  expect(near({ dedicatedCpuPlacement: true })?.alignedCPUs).toEqual([3, 4]);
  expect(near({})).not.toHaveProperty("alignedCPUs");
});

test.each([
  ["a host device without alias", "<hostdev/>", "DISK_DOMAIN_INVALID"],
  [
    "a tagged device without address",
    '<interface><alias name="ua-n"/></interface>',
    "DISK_DOMAIN_INVALID",
  ],
  ["a VMI without cpu", hostdev("hostdevice-d"), "DISK_VMI_INVALID"],
])("rejects %s", (_, live, code) => {
  const devices = {
    interfaces: [{ name: "n", tag: "t" }],
    hostDevices: [{ name: "d", deviceName: "v/x", tag: "t" }],
  };
  expect(() => metadata({ devices }, live)).toThrow(expect.objectContaining({ code }));
});

test.each(["<domain", "<domain>", "<domain></doman>", "<foo/>", "", "<domain a='1' a='2'/>"])(
  "rejects %j as a domain",
  (xml) => {
    expect(() => readLiveDevices(xml)).toThrow(
      expect.objectContaining({ code: "DISK_DOMAIN_INVALID" }),
    );
  },
);
