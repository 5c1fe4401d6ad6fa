import { isOrdinalTap } from "@virtkit/api/network";
import { ConverterError } from "../converter-error.ts";
import { nameOfAlias } from "../model/alias.ts";
import type { DomainDisk, DomainDiskSource } from "../model/disk.ts";
import type { Domain } from "../model/domain.ts";
import type { XmlElement } from "../model/extensible.ts";
import type { DomainHostDevice } from "../model/host-device.ts";
import type { DomainInterface } from "../model/interface.ts";
import { toXml } from "../xml/to-xml.ts";
import type { CopiedVolume, MigrationTarget, RenamedNamespace } from "./migration-target.ts";

/**
 * The XML of a running guest for its destination: with the destination's paths, CPUs, TAP devices, host devices and
 * UID. Everything else stays as it was reported, including elements that the model does not know. The domain is not
 * changed. {@link sourceTarget} and {@link destinationTarget} say what differs at the destination.
 *
 * @throws ConverterError `CONVERTER_XML_INVALID` with the path in the domain: if volumes are copied and a disk has
 * no alias that identifies it, if such a disk has no source or no known size, or if there is a mediated device for
 * a guest that does not have exactly one.
 *
 * @example
 * ```ts
 * const running = parseDomain(await domain.xml({ migratable: true }));
 * const xml = toMigrationXml(running, sourceTarget(vmi, { destinationHook: true }));
 * ```
 */
export function toMigrationXml(domain: Domain, target: MigrationTarget): string {
  const { uid, cpus, namespace, taps = {}, mediatedDevice } = target;
  const { devices } = domain;
  const moved: Domain = {
    ...domain,
    devices: {
      ...devices,
      disks: devices.disks
        .map((disk) => (namespace ? renamed(disk, namespace) : disk))
        .map((disk, at) => copied(disk, at, target.volumes)),
      interfaces: devices.interfaces.map((card) => retapped(card, taps)),
      hostDevices: replaceMediated(devices.hostDevices, mediatedDevice),
    },
  };
  if (cpus) {
    moved.cpu = { ...domain.cpu, topology: cpus.topology };
    moved.vcpu = cpus.vcpu;
    moved.cputune = cpus.cputune;
    moved.numatune = cpus.numatune;
    moved.features = cpus.features;
  }
  const xml = toXml(moved);
  return uid && uid.from !== "" ? xml.replaceAll(uid.from, uid.to) : xml;
}

function renamed(disk: DomainDisk, namespace: RenamedNamespace): DomainDisk {
  const source = withFile(disk.source, namespace);
  const store = source.dataStore;
  if (!store?.source) return { ...disk, source };
  const dataStore = { ...store, source: withFile(store.source, namespace) };
  return { ...disk, source: { ...source, dataStore } };
}

function withFile(
  source: DomainDiskSource,
  { from, to, match }: RenamedNamespace,
): DomainDiskSource {
  if (!source.file) return source;
  const [old, fresh] = match === "text" ? [from, to] : [`/${from}/`, `/${to}/`];
  // A function, because `$` in a replacement string has a meaning.
  return { ...source, file: source.file.replace(old, () => fresh) };
}

function copied(disk: DomainDisk, at: number, volumes: MigrationTarget["volumes"]): DomainDisk {
  if (!volumes) return disk;
  const path = `devices.disks[${at}]`;
  if (!disk.alias) throw invalid(`${path}.alias`, "is not set, so its volume is unknown");
  const name = nameOfAlias(disk.alias) ?? disk.alias.name;
  const volume = Object.hasOwn(volumes, name) ? volumes[name] : undefined;
  if (!volume) return disk;
  const { dataStore } = disk.source;
  if (!dataStore?.source) {
    const source = replaced(disk.source, volume, path);
    return { ...disk, type: typeOf(source, disk.type), source };
  }
  const source = replaced(dataStore.source, volume, path);
  const store = { ...dataStore, type: typeOf(source, dataStore.type ?? ""), source };
  return { ...disk, source: { ...disk.source, dataStore: store } };
}

/** With an explicit size, so that it fits into a larger volume, and at its new path. */
function replaced(
  source: DomainDiskSource,
  { virtualSize, replacement }: CopiedVolume,
  path: string,
): DomainDiskSource {
  if (!source.file && !source.dev) throw invalid(`${path}.source`, "has no file or device");
  if (virtualSize === undefined) throw invalid(path, "is copied, but its virtual size is unknown");
  const { file, dev, ...others } = source;
  const place = replacement ?? { file, dev };
  return { ...place, ...others, extra: { ...source.extra, children: sliced(source, virtualSize) } };
}

function sliced(
  { extra }: DomainDiskSource,
  virtualSize: number | bigint,
): readonly (XmlElement | string)[] {
  const children = extra?.children ?? [];
  const isSliced = children.some((child) => typeof child !== "string" && child.name === "slices");
  if (isSliced) return children;
  const attributes = { type: "storage", offset: "0", size: String(virtualSize) };
  return [...children, { name: "slices", children: [{ name: "slice", attributes }] }];
}

function typeOf({ file, dev }: DomainDiskSource, otherwise: string): string {
  if (file) return "file";
  return dev ? "block" : otherwise;
}

/** The TAP of the Pod's own network has one name everywhere. */
function retapped(card: DomainInterface, taps: Readonly<Record<string, string>>): DomainInterface {
  const dev = card.target?.dev ?? "";
  if (!isOrdinalTap(dev)) return card;
  const name = nameOfAlias(card.alias) ?? "";
  const tap = Object.hasOwn(taps, name) ? taps[name] : undefined;
  return tap === undefined ? card : { ...card, target: { ...card.target, dev: tap } };
}

function replaceMediated(
  devices: DomainHostDevice[],
  uuid: string | undefined,
): DomainHostDevice[] {
  const [device, second] = devices;
  if (uuid === undefined || !device) return devices;
  if (second)
    throw invalid(
      "devices.hostDevices[1]",
      "is a second host device; a guest with a vGPU can migrate only if it has no other",
    );
  if (device.type !== "mdev") {
    throw invalid(
      "devices.hostDevices[0].type",
      `is ${device.type}; only mdev devices can migrate`,
    );
  }
  const address = { ...device.source.address, uuid };
  return [{ ...device, source: { ...device.source, address } }];
}

function invalid(path: string, message: string): ConverterError {
  return new ConverterError("CONVERTER_XML_INVALID", message, { path });
}
