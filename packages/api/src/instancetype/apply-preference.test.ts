import { expect, test } from "vitest";
import type { VirtualMachineInstanceSpec, VirtualMachinePreferenceSpec } from "../schema/index.ts";
import { applyInstancetype } from "./apply-instancetype.ts";

type Domain = VirtualMachineInstanceSpec["domain"];

function applied(
  preference: VirtualMachinePreferenceSpec,
  spec: object = {},
): VirtualMachineInstanceSpec {
  const input = { domain: { devices: {} }, ...spec } as VirtualMachineInstanceSpec;
  const result = applyInstancetype({ spec: input, preference });
  if (result.kind !== "applied") throw new Error(JSON.stringify(result));
  return result.spec;
}
const domain = (preference: VirtualMachinePreferenceSpec, fields: object = {}): Domain =>
  applied(preference, { domain: { devices: {}, ...fields } }).domain;
const devices = (preferred: object, fields: object = {}): Domain["devices"] =>
  domain({ devices: preferred }, { devices: fields }).devices;

test.each([
  ["preferredUseVirtioTransitional", "useVirtioTransitional"],
  ["preferredBlockMultiQueue", "blockMultiQueue"],
  ["preferredNetworkInterfaceMultiQueue", "networkInterfaceMultiqueue"],
  ["preferredAutoattachGraphicsDevice", "autoattachGraphicsDevice"],
  ["preferredAutoattachMemBalloon", "autoattachMemBalloon"],
  ["preferredAutoattachPodInterface", "autoattachPodInterface"],
  ["preferredAutoattachSerialConsole", "autoattachSerialConsole"],
  ["preferredAutoattachInputDevice", "autoattachInputDevice"],
] as const)("%s fills in %s and yields to an explicit false", (preferred, own) => {
  expect(devices({ [preferred]: true })[own]).toBe(true);
  expect(devices({ [preferred]: true }, { [own]: false })[own]).toBe(false);
});

test("a preference about hotplug or ACPI wins over the VM", () => {
  expect(devices({ preferredDisableHotplug: false }, { disableHotplug: true }).disableHotplug).toBe(
    false,
  );
  const features = { features: { acpi: { enabled: true } } };
  expect(
    domain({ features: { preferredAcpi: { enabled: false } } }, features).features?.acpi,
  ).toEqual({
    enabled: false,
  });
});

test("completes devices, and adds only video and a panic device", () => {
  expect(devices({ preferredSoundModel: "ac97" })).toEqual({});
  expect(devices({ preferredSoundModel: "ac97" }, { sound: { name: "s" } }).sound?.model).toBe(
    "ac97",
  );
  expect(devices({ preferredVideoType: "vga" }).video).toEqual({ type: "vga" });
  expect(devices({ preferredPanicDeviceModel: "hyperv" }).panicDevices).toEqual([
    { model: "hyperv" },
  ]);
  const two = { panicDevices: [{}, { model: "isa" }] };
  expect(devices({ preferredPanicDeviceModel: "hyperv" }, two).panicDevices).toEqual([
    { model: "hyperv" },
    { model: "isa" },
  ]);
  expect(devices({ preferredRng: {}, preferredTPM: { persistent: true } })).toEqual({
    rng: {},
    tpm: { persistent: true },
  });
});

test("completes disks by kind, and gives only virtio disks their own thread", () => {
  const preferred = {
    preferredDiskBus: "virtio",
    preferredCdromBus: "sata",
    preferredLunBus: "scsi",
    preferredDiskCache: "none",
    preferredDiskIO: "native",
    preferredDiskBlockSize: { matchVolume: {} },
    preferredDiskDedicatedIoThread: true,
  };
  const disks = [
    { name: "a" },
    { name: "b", disk: { bus: "sata" }, cache: "writeback" },
    { name: "c", cdrom: {} },
    { name: "d", lun: {} },
  ];
  expect(devices(preferred, { disks }).disks).toEqual([
    {
      name: "a",
      disk: { bus: "virtio" },
      blockSize: { matchVolume: {} },
      cache: "none",
      io: "native",
      dedicatedIOThread: true,
    },
    {
      name: "b",
      disk: { bus: "sata" },
      cache: "writeback",
      blockSize: { matchVolume: {} },
      io: "native",
    },
    { name: "c", cdrom: { bus: "sata" } },
    { name: "d", lun: { bus: "scsi" } },
  ]);
});

test("masquerade is for unbound interfaces of the Pod network", () => {
  const interfaces = [{ name: "a" }, { name: "b" }, { name: "c", bridge: {} }];
  const networks = [
    { name: "a", pod: {} },
    { name: "b", multus: { networkName: "n" } },
    { name: "c", pod: {} },
  ];
  const preference = {
    devices: { preferredInterfaceModel: "virtio", preferredInterfaceMasquerade: {} },
  };
  const result = applied(preference, { domain: { devices: { interfaces } }, networks });
  expect(result.domain.devices.interfaces).toEqual([
    { name: "a", model: "virtio", masquerade: {} },
    { name: "b", model: "virtio" },
    { name: "c", model: "virtio", bridge: {} },
  ]);
});

test("completes empty inputs", () => {
  const preferred = { preferredInputBus: "virtio", preferredInputType: "tablet" };
  expect(devices(preferred, { inputs: [{ name: "i", bus: "usb", type: "" }] }).inputs).toEqual([
    { name: "i", bus: "usb", type: "tablet" },
  ]);
});

test.each([
  ["BIOS", { preferredUseBios: true }, {}, { bios: {} }],
  [
    "BIOS with a serial port",
    { preferredUseBios: true, preferredUseBiosSerial: true },
    {},
    { bios: { useSerial: true } },
  ],
  ["EFI", { preferredEfi: { persistent: true } }, {}, { efi: { persistent: true } }],
  [
    "EFI, by the deprecated fields",
    { preferredUseEfi: true, preferredUseSecureBoot: true },
    {},
    { efi: { secureBoot: true } },
  ],
  ["BIOS rather than EFI", { preferredUseBios: true, preferredEfi: {} }, {}, { bios: {} }],
  ["the VM's EFI", { preferredUseBios: true }, { efi: {} }, { efi: {} }],
  [
    "secure boot for the VM's EFI",
    { preferredEfi: {}, preferredUseSecureBoot: true },
    { efi: {} },
    { efi: { secureBoot: true } },
  ],
  ["nothing", {}, {}, {}],
] as const)("boot loader: %s", (_, firmware, bootloader, expected) => {
  expect(domain({ firmware }, { firmware: { bootloader } }).firmware?.bootloader).toEqual(expected);
});

test("adds features, Hyper-V and CPU features that the VM does not have", () => {
  const preference = {
    features: {
      preferredApic: {},
      preferredKvm: { hidden: true },
      preferredHyperv: { relaxed: {}, vapic: {} },
    },
    cpu: { preferredCPUFeatures: [{ name: "a" }, { name: "b" }] },
  };
  const result = domain(preference, {
    features: { kvm: {}, hyperv: { relaxed: { enabled: false } } },
    cpu: { features: [{ name: "a", policy: "disable" }] },
  });
  expect(result.features).toEqual({
    apic: {},
    kvm: {},
    hyperv: { relaxed: { enabled: false }, vapic: {} },
  });
  expect(result.cpu?.features).toEqual([{ name: "a", policy: "disable" }, { name: "b" }]);
});

test("reports CPU features for a VM without a CPU section", () => {
  const input = { domain: { devices: {} } };
  const preference = { cpu: { preferredCPUFeatures: [{ name: "a" }] } };
  expect(applyInstancetype({ spec: input, preference })).toMatchObject({
    kind: "invalid",
    problem: { field: "spec.template.spec.domain.cpu" },
  });
});

test("fills in clock, machine, architecture, subdomain and grace period, and never replaces them", () => {
  const preference: VirtualMachinePreferenceSpec = {
    clock: { preferredClockOffset: { timezone: "Europe/Berlin" }, preferredTimer: { hpet: {} } },
    machine: { preferredMachineType: "q35" },
    preferredArchitecture: "arm64",
    preferredSubdomain: "sub",
    preferredTerminationGracePeriodSeconds: 180,
    preferredLaunchSecurity: { tdx: {} },
  };
  expect(applied(preference)).toEqual({
    architecture: "arm64",
    subdomain: "sub",
    terminationGracePeriodSeconds: 180,
    domain: {
      devices: {},
      clock: { timezone: "Europe/Berlin", timer: { hpet: {} } },
      machine: { type: "q35" },
      launchSecurity: { tdx: {} },
    },
  });
  const own = {
    architecture: "amd64",
    subdomain: "mine",
    terminationGracePeriodSeconds: 0,
    domain: {
      devices: {},
      clock: { utc: {}, timer: { kvm: {} } },
      machine: { type: "pc" },
      launchSecurity: { sev: {} },
    },
  };
  expect(applied(preference, own)).toEqual(own);
});
