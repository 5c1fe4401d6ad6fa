import type { Interface, VirtualMachineInstance } from "@virtkit/api/schema";
import type { AssignedHostDevice } from "../context.ts";
import { invalidContext } from "../converter-error.ts";
import { assignedPciAddress, pciDevice } from "./assigned-device.ts";
import { claimedDevice } from "./device-metadata.ts";
import type { NetworkInfo } from "./environment.ts";

/** Network functions that Multus assigned; those whose network is not up yet are left out. */
export function multusDevices(
  vmi: VirtualMachineInstance,
  info: NetworkInfo | undefined,
): AssignedHostDevice[] {
  const interfaces = sriovInterfaces(vmi).filter(([{ name }]) => isUp(vmi, name));
  if (interfaces.length === 0) return [];
  const addresses = addressesOf(info);
  return interfaces.map(([source, path]) => {
    const name = source.name ?? "";
    const address = addresses.get(name);
    addresses.delete(name);
    if (address === undefined) {
      throw invalidContext("networkInfo", `has no PCI address for the network "${name}"`);
    }
    return networkFunction(source, address, "networkInfo", path);
  });
}

/** Network functions from resource claims. */
export function claimedNetworkDevices(
  vmi: VirtualMachineInstance,
  files: Readonly<Record<string, string>>,
): AssignedHostDevice[] {
  const devices: AssignedHostDevice[] = [];
  for (const [source, path] of sriovInterfaces(vmi)) {
    const network = vmi.spec.networks?.find(({ name }) => name === source.name);
    const claim = network?.resourceClaim;
    if (!claim) continue;
    const { claimName = "", requestName = "" } = claim;
    const claims = vmi.spec.resourceClaims ?? [];
    const found = claimedDevice(files, claims, claimName, requestName, path);
    if (found.pciAddress === undefined) {
      throw invalidContext("hostFiles", `the claim of ${path} did not assign a PCI device`);
    }
    devices.push(networkFunction(source, found.pciAddress, "hostFiles", path));
  }
  return devices;
}

function sriovInterfaces(vmi: VirtualMachineInstance): [Interface, string][] {
  return (vmi.spec.domain.devices?.interfaces ?? [])
    .map((source, at): [Interface, string] => [source, `spec.domain.devices.interfaces[${at}]`])
    .filter(([{ sriov }]) => sriov);
}

function isUp(vmi: VirtualMachineInstance, name: string): boolean {
  const status = vmi.status?.interfaces?.find((candidate) => candidate.name === name);
  return (status?.infoSource ?? "").split(", ").includes("multus-status");
}

function addressesOf(info: NetworkInfo | undefined): Map<string, string> {
  const addresses = new Map<string, string>();
  for (const { network = "", deviceInfo } of info?.interfaces ?? []) {
    const address = deviceInfo?.pci?.["pci-address"];
    if (address) addresses.set(network, address);
  }
  return addresses;
}

function networkFunction(
  { name, pciAddress, bootOrder }: Interface,
  hostAddress: string,
  where: string,
  path: string,
): AssignedHostDevice {
  const order = bootOrder ?? undefined;
  return {
    ...pciDevice(`sriov-${name ?? ""}`, hostAddress, where),
    ...(pciAddress ? { Address: assignedPciAddress(pciAddress, `${path}.pciAddress`) } : {}),
    ...(order === undefined ? {} : { BootOrder: { Order: order } }),
  };
}
