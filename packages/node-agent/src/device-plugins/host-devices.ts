import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A PCI device of a node. */
export interface PciDevice {
  readonly address: string;
  /** `vendor:product`, in lower case. */
  readonly id: string;
  readonly driver: string;
  readonly iommuGroup: string;
  readonly numaNode?: number;
  /** Names below `/dev/vfio/devices`. */
  readonly characterDevices: readonly string[];
}

/** A mediated device of a node. */
export interface MediatedDevice {
  readonly uuid: string;
  /** Name of its type, with underscores for blanks. */
  readonly type: string;
  readonly iommuGroup: string;
  readonly numaNode?: number;
}

/** A USB device of a node. */
export interface UsbDevice {
  readonly vendor: number;
  readonly product: number;
  readonly bus: number;
  readonly device: number;
  /** `/dev/bus/usb/001/002`. */
  readonly path: string;
}

/** The devices of a node that could be handed to guests. */
export interface HostDevices {
  readonly pci: readonly PciDevice[];
  readonly mediated: readonly MediatedDevice[];
  readonly usb: readonly UsbDevice[];
}

/** Reads them from sysfs. What cannot be read completely is left out. */
export function findHostDevices(root = "/"): HostDevices {
  const bus = (name: string): string => join(root, "sys/bus", name, "devices");
  return {
    pci: entries(bus("pci")).flatMap((name) => optional(() => readPci(bus("pci"), name))),
    mediated: entries(bus("mdev")).flatMap((name) =>
      optional(() => readMediated(bus("mdev"), bus("pci"), name)),
    ),
    // Controllers are named `usb1`, and interfaces of devices have a colon.
    usb: entries(bus("usb"))
      .filter((name) => !name.startsWith("usb") && !name.includes(":"))
      .flatMap((name) => optional(() => readUsb(join(bus("usb"), name)))),
  };
}

function readPci(bus: string, address: string): PciDevice {
  const place = join(bus, address);
  const id = readEvents(place)["PCI_ID"]?.toLowerCase();
  if (!id) throw new Error("no PCI_ID");
  return {
    address,
    id,
    driver: basename(readlinkSync(join(place, "driver"))),
    iommuGroup: basename(readlinkSync(join(place, "iommu_group"))),
    ...numaOf(place),
    characterDevices: entries(join(place, "vfio-dev")),
  };
}

function readMediated(bus: string, pciBus: string, uuid: string): MediatedDevice {
  const place = join(bus, uuid);
  const [named] = optional(() => readFileSync(join(place, "mdev_type/name"), "utf8"));
  const type = named ?? basename(readlinkSync(join(place, "mdev_type")));
  const parent = basename(dirname(readlinkSync(place)));
  return {
    uuid,
    type: mediatedTypeName(type),
    iommuGroup: basename(readlinkSync(join(place, "iommu_group"))),
    ...numaOf(join(pciBus, parent)),
  };
}

/** As configurations and nodes both write it. */
export function mediatedTypeName(name: string): string {
  return name.trim().replaceAll(" ", "_");
}

function readUsb(place: string): UsbDevice {
  const { BUSNUM, DEVNUM, PRODUCT = "", DEVNAME } = readEvents(place);
  const [vendor, product] = PRODUCT.split("/").map((part) => Number.parseInt(part, 16));
  const [bus, device] = [Number(BUSNUM), Number(DEVNUM)];
  if (![vendor, product, bus, device].every(Number.isSafeInteger) || !DEVNAME) {
    throw new Error("not a device");
  }
  return { vendor, product, bus, device, path: join("/dev", DEVNAME) } as UsbDevice;
}

function numaOf(place: string): { readonly numaNode?: number } {
  const [text] = optional(() => readFileSync(join(place, "numa_node"), "utf8"));
  const numaNode = Number(text ?? -1);
  return Number.isSafeInteger(numaNode) && numaNode >= 0 ? { numaNode } : {};
}

function readEvents(place: string): Readonly<Record<string, string>> {
  const lines = readFileSync(join(place, "uevent"), "utf8").split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=", 2)).filter(([, value]) => value));
}

function entries(place: string): readonly string[] {
  const [found] = optional(() => readdirSync(place));
  return found?.toSorted() ?? [];
}

/** Undefined if it does not exist, or is not valid. */
function optional<T>(read: () => T): [T] | [] {
  try {
    return [read()];
  } catch {
    // A device that disappeared meanwhile, or has no driver, is not offered.
    return [];
  }
}
