import { goJson } from "@virtkit/api/go-json";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskError } from "../disk-error.ts";
import { guardVmi } from "../guard-vmi.ts";
import { jsonObject } from "./json-object.ts";
import type { LiveAddress, LiveDevice, LiveDevices } from "./live-devices.ts";

/** Location of a tagged device in the guest. */
export interface DeviceMetadata {
  readonly type: "nic" | "hostdev";
  /** As `pci`. */
  readonly bus: string;
  /** As `0000:04:00.1`. */
  readonly address: string;
  readonly mac?: string | undefined;
  readonly serial?: string | undefined;
  /** NUMA node of the host; 0 is left out. */
  readonly numaNode?: number | undefined;
  /** vCPUs that run near the device. */
  readonly alignedCPUs?: readonly number[] | undefined;
  readonly tags: readonly string[];
}

/** What the node knows about a PCI device; undefined if nothing. */
export interface DeviceTopology {
  numaNode(pciAddress: string): number | undefined;
  /** CPUs of the host that are near the device. */
  nearbyCpus(pciAddress: string): readonly number[] | undefined;
}

/** Options of {@link deviceMetadata}. */
export interface DeviceMetadataOptions {
  readonly topology?: DeviceTopology;
  /**
   * KubeVirt looks up the name of a GPU among the host devices: a GPU's tag never reaches the
   * guest, but that of a host device with the same name does. True does the same. Default false.
   */
  readonly gpusAsHostDevices?: boolean;
}

const sriovPrefix = "sriov-";
const hostDevicePrefix = "hostdevice-";
const gpuPrefix = "gpu-";

/**
 * Matches the tags in a VMI with the addresses that libvirt gave the devices: interfaces in the
 * order of the live domain, then host devices. Devices without a tag, and interfaces without an
 * alias, are skipped.
 *
 * @throws DiskError if a tagged device has no PCI address, or a VMI with a tagged host device no `cpu`
 *   (run defaulting first).
 */
export function deviceMetadata(
  vmi: VirtualMachineInstance,
  live: LiveDevices,
  options: DeviceMetadataOptions = {},
): readonly DeviceMetadata[] {
  return guardVmi(vmi, () => joinTags(vmi, live, options));
}

function joinTags(
  vmi: VirtualMachineInstance,
  live: LiveDevices,
  { topology, gpusAsHostDevices = false }: DeviceMetadataOptions,
): readonly DeviceMetadata[] {
  const { interfaces = [], hostDevices = [], gpus = [] } = vmi.spec.domain.devices ?? {};
  const interfaceTags = tagsOf(interfaces);
  const hostDeviceTags = tagsOf(hostDevices);
  const gpuTags = gpusAsHostDevices ? hostDeviceTags : tagsOf(gpus);

  const nics = live.interfaces.flatMap((nic) => {
    const tag = nic.alias === undefined ? undefined : interfaceTags.get(nic.alias);
    return tag === undefined ? [] : [{ ...placed("nic", nic, tag), mac: nic.mac }];
  });
  const lookups: readonly Lookup[] = [
    ["nic", interfaceTags, sriovPrefix],
    ["hostdev", hostDeviceTags, hostDevicePrefix],
    ["hostdev", gpuTags, gpuPrefix],
  ];
  const assigned = live.hostDevices.flatMap((device) =>
    tagged(device, lookups).map(([type, tag]) => ({
      ...placed(type, device, tag),
      ...affinity(vmi, device, live, topology),
    })),
  );
  return [...nics, ...assigned];
}

/** Tags of one kind of device by name, and the alias prefix. */
type Lookup = readonly ["nic" | "hostdev", ReadonlyMap<string, string>, string];

/** All tags of a host device; a name that is used twice in the VMI has two. */
function tagged(
  { alias }: LiveDevice,
  lookups: readonly Lookup[],
): (readonly ["nic" | "hostdev", string])[] {
  if (alias === undefined) throw invalidDomain("a host device has no alias");
  return lookups.flatMap(([type, tags, prefix]) => {
    const tag = tags.get(alias.startsWith(prefix) ? alias.slice(prefix.length) : alias);
    return tag === undefined ? [] : [[type, tag] as const];
  });
}

function tagsOf(
  devices: readonly { readonly name: string; readonly tag?: string }[],
): ReadonlyMap<string, string> {
  return new Map(devices.flatMap(({ name, tag }) => (tag ? [[name, tag] as const] : [])));
}

function placed(type: "nic" | "hostdev", device: LiveDevice, tag: string): DeviceMetadata {
  const address = pciAddress(device.address, device.alias);
  return { type, bus: device.address?.type ?? "", address, tags: [tag] };
}

function pciAddress(address: LiveAddress | undefined, alias: string | undefined): string {
  const { domain = "", bus = "", slot = "", function: fn = "" } = address ?? {};
  const parts = [domain, bus, slot, fn];
  if (parts.some((part) => part.length < 2)) {
    throw invalidDomain(`device "${alias ?? ""}" has a tag, but no PCI address`);
  }
  // libvirt writes each part as 0x04.
  const [d, b, s, f] = parts.map((part) => part.slice(2));
  return `${d}:${b}:${s}.${f}`;
}

function affinity(
  vmi: VirtualMachineInstance,
  { source, alias }: LiveDevice,
  live: LiveDevices,
  topology: DeviceTopology | undefined,
): Pick<DeviceMetadata, "numaNode" | "alignedCPUs"> {
  if (!source) return {};
  const { cpu } = vmi.spec.domain;
  if (!cpu) {
    const path = "spec.domain.cpu";
    const message = `${path}: missing, though a host device has a tag; apply the defaults first`;
    throw new DiskError("DISK_VMI_INVALID", message, { path });
  }
  const address = pciAddress(source, alias);
  if (cpu.numa?.guestMappingPassthrough) return { numaNode: topology?.numaNode(address) };
  if (!cpu.dedicatedCpuPlacement) return {};
  const nearby = topology?.nearbyCpus(address) ?? [];
  const alignedCPUs = nearby.flatMap((cpuId) => live.vcpuOfCpu.get(String(cpuId)) ?? []);
  return { alignedCPUs };
}

function invalidDomain(what: string): DiskError {
  return new DiskError("DISK_DOMAIN_INVALID", `live domain: ${what}`);
}

/** The list as it stands in `meta_data.json`; `null` for none. */
export function deviceMetadataJson(devices: readonly DeviceMetadata[] | null): string {
  return devices === null ? "null" : `[${devices.map(deviceJson).join(",")}]`;
}

function deviceJson(device: DeviceMetadata): string {
  const { type, bus, address, mac, serial, numaNode, alignedCPUs, tags } = device;
  return jsonObject([
    ["type", goJson(type)],
    ["bus", goJson(bus)],
    ["address", goJson(address)],
    ["mac", mac ? goJson(mac) : undefined],
    ["serial", serial ? goJson(serial) : undefined],
    ["numaNode", numaNode ? String(numaNode) : undefined],
    ["alignedCPUs", alignedCPUs?.length ? JSON.stringify(alignedCPUs) : undefined],
    ["tags", tags ? `[${tags.map(goJson).join(",")}]` : "null"],
  ]);
}
