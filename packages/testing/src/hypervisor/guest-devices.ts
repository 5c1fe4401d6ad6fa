import type { Random } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus, GuestInterface } from "@virtkit/domain-manager";

type Disks = DomainStatus["disks"];
type Disk = NonNullable<
  NonNullable<VirtualMachineInstance["spec"]["domain"]["devices"]>["disks"]
>[number];

/** Phases of a hotplugged volume that can be a guest's disk. */
const mounted = ["MountedToPod", "Ready"];

/** The disks that a VMI wants. An existing one keeps its device; a new one gets the next free one. */
export function disksOf({ spec, status }: VirtualMachineInstance, before: Disks): Disks {
  const coming = new Set(
    (status?.volumeStatus ?? [])
      .filter(({ hotplugVolume, phase }) => hotplugVolume && !mounted.includes(phase ?? ""))
      .map(({ name }) => name),
  );
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  const wanted = (spec.domain.devices?.disks ?? []).filter(
    ({ name }) => volumes.has(name) && !coming.has(name),
  );
  const kept = before.filter(({ volume }) => wanted.some(({ name }) => name === volume));
  const taken = new Set(kept.map(({ target }) => target));
  return wanted.map((disk) => {
    const known = kept.find(({ volume }) => volume === disk.name);
    if (known) return known;
    const target = freeTarget(prefixOf(disk), taken);
    taken.add(target);
    return { volume: disk.name, target };
  });
}

function prefixOf({ disk, lun, cdrom }: Disk): string {
  const bus = disk?.bus ?? lun?.bus ?? cdrom?.bus ?? "sata";
  return bus === "virtio" ? "vd" : "sd";
}

function freeTarget(prefix: string, taken: ReadonlySet<string>): string {
  for (let index = 0; ; index++) {
    const target = `${prefix}${letters(index)}`;
    if (!taken.has(target)) return target;
  }
}

/** a to z, then aa, ab and so on. */
function letters(index: number): string {
  const last = String.fromCharCode(97 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}

/** The interfaces that a VMI wants, as the host knows them: without addresses. */
export function interfacesOf(
  { spec }: VirtualMachineInstance,
  before: readonly GuestInterface[],
  random: Random,
): readonly GuestInterface[] {
  const wanted = (spec.domain.devices?.interfaces ?? []).filter(({ state }) => state !== "absent");
  return wanted.map(({ name, macAddress, state }) => {
    const known = before.find((one) => one.name === name);
    const mac = known?.mac ?? macAddress ?? `52:54:00:${hexPair(random)}:${hexPair(random)}:01`;
    return { name, mac, ips: [], queueCount: 1, ...(state ? { linkState: state } : {}) };
  });
}

function hexPair(random: Random): string {
  return Math.floor(random.number() * 256)
    .toString(16)
    .padStart(2, "0");
}
