import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PermittedHostDevices } from "@virtkit/api/schema";
import { NodeAgentError } from "../node-agent-error.ts";
import type { Allocation, DeviceSource } from "./device-source.ts";
import { type HostDevices, mediatedTypeName, type UsbDevice } from "./host-devices.ts";

/** A device of a node that guests may use. */
export interface PermittedDevice {
  /** The ID by which the kubelet knows it. */
  readonly id: string;
  /** What the launcher learns about it: the address or the UUID. */
  readonly value: string;
  /** Device nodes that the container gets, as on the node. */
  readonly paths: readonly string[];
  readonly numaNode?: number;
}

/** Devices of one resource. */
export interface PermittedResource {
  readonly resource: string;
  /** Environment variable in which the launcher finds the values. */
  readonly variable: string;
  readonly devices: readonly PermittedDevice[];
}

/**
 * Which of a node's devices the cluster's configuration permits, by resource: PCI devices bound to VFIO, mediated
 * devices by type, and complete sets of USB devices. Resources of external providers are left to them.
 */
export function planPermittedDevices(
  { pciHostDevices = [], mediatedDevices = [], usb = [] }: PermittedHostDevices,
  found: HostDevices,
): readonly PermittedResource[] {
  const resources = new Map<string, PermittedResource>();
  const add = (prefix: string, resource: string, devices: readonly PermittedDevice[]): void => {
    if (devices.length === 0) return;
    const variable = `${prefix}_${resource.toUpperCase().replaceAll(/[/.-]/g, "_")}`;
    const known = resources.get(resource)?.devices ?? [];
    resources.set(resource, { resource, variable, devices: [...known, ...devices] });
  };
  for (const { resourceName, pciVendorSelector } of pciHostDevices.filter(isOurs)) {
    const chosen = found.pci.filter(
      ({ id, driver }) => id === pciVendorSelector.toLowerCase() && driver === "vfio-pci",
    );
    const devices = chosen.map(({ iommuGroup, address, characterDevices, ...rest }) => ({
      id: iommuGroup,
      value: address,
      paths: [...vfioPaths(iommuGroup), ...characterDevices.map((it) => `/dev/vfio/devices/${it}`)],
      ...numaIn(rest),
    }));
    add("PCI_RESOURCE", resourceName, devices);
  }
  for (const { resourceName, mdevNameSelector } of mediatedDevices.filter(isOurs)) {
    const type = mediatedTypeName(mdevNameSelector);
    const devices = found.mediated
      .filter((device) => device.type === type)
      .map(({ iommuGroup, uuid, ...rest }) => ({
        id: iommuGroup,
        value: uuid,
        paths: vfioPaths(iommuGroup),
        ...numaIn(rest),
      }));
    add("MDEV_PCI_RESOURCE", resourceName, devices);
  }
  const free = new Set(found.usb);
  for (const { resourceName, selectors = [] } of usb.filter(isOurs)) {
    add("USB_RESOURCE", resourceName, usbSets(resourceName, selectors, free));
  }
  return [...resources.values()];
}

function isOurs({ externalResourceProvider }: { externalResourceProvider?: boolean }): boolean {
  return externalResourceProvider !== true;
}

function vfioPaths(group: string): string[] {
  return ["/dev/vfio/vfio", `/dev/vfio/${group}`];
}

function numaIn({ numaNode }: { readonly numaNode?: number }): { readonly numaNode?: number } {
  return numaNode === undefined ? {} : { numaNode };
}

/** Sets of devices, one for each selector; a device is in at most one set. */
function usbSets(
  resource: string,
  selectors: readonly { readonly vendor: string; readonly product: string }[],
  free: Set<UsbDevice>,
): PermittedDevice[] {
  const sets: PermittedDevice[] = [];
  if (selectors.length === 0) return sets;
  for (;;) {
    const left = [...free];
    const chosen = selectors.flatMap(({ vendor, product }) => {
      const index = left.findIndex(
        (device) =>
          device.vendor === Number.parseInt(vendor, 16) &&
          device.product === Number.parseInt(product, 16),
      );
      return index < 0 ? [] : left.splice(index, 1);
    });
    if (chosen.length < selectors.length) return sets;
    for (const device of chosen) free.delete(device);
    const addresses = chosen.map(({ bus, device }) => `${bus}:${device}`);
    sets.push({
      // The same after a restart, so that the kubelet recognises what it has handed out.
      id: `${resource.replaceAll("/", "-")}-${addresses.join("-").replaceAll(":", ".")}`,
      value: addresses.join(","),
      paths: chosen.map(({ path }) => path),
    });
  }
}

/**
 * The devices of a permitted resource; those whose device nodes are gone are unhealthy. `root` is the node's, as
 * seen here.
 */
export function permittedDevices(
  { resource, variable, devices }: PermittedResource,
  root = "/",
): DeviceSource {
  const isThere = ({ paths }: PermittedDevice): boolean =>
    paths.every((path) => existsSync(join(root, path)));
  return {
    directories: [...new Set(devices.flatMap(({ paths }) => paths.map(dirname)))].map((place) =>
      join(root, place),
    ),
    list: () =>
      devices.map((device) => ({
        id: device.id,
        healthy: isThere(device),
        ...numaIn(device),
      })),
    allocate: (ids): Allocation => {
      const chosen = ids.map((id) => {
        const device = devices.find((candidate) => candidate.id === id);
        if (device && isThere(device)) return device;
        const message = `${resource}: the device ${id} no longer exists`;
        throw new NodeAgentError("AGENT_DEVICE_PLUGIN", message, { path: resource });
      });
      const paths = new Set(chosen.flatMap((device) => device.paths));
      return {
        nodes: [...paths].map((path) => ({ path, permissions: "mrw" })),
        env: { [variable]: chosen.map(({ value }) => value).join(",") },
      };
    },
  };
}
