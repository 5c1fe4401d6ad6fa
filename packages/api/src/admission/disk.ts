import type { Disk, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { blockSize } from "./block-size.ts";
import {
  type Cause,
  countSet,
  each,
  fine,
  invalid,
  join,
  notSupported,
  oneOf,
  quote,
} from "./cause.ts";
import { dnsLabelProblems } from "./kubernetes-name.ts";
import { isPciAddress } from "./pci-address.ts";

/**
 * A rule about one disk. `odd` is the path with `domain.devices.disks` twice, which KubeVirt reports for some
 * rules.
 */
type DiskRule = (disk: Disk, field: string, odd: string) => readonly Cause[];

/** The fields of each disk. */
export function disks(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const all = spec.domain.devices.disks;
  if (!all?.length) return fine;
  const list = `${at}.domain.devices.disks`;
  const names = new Set<string>();
  return each(all, (disk, i) => {
    const field = `${list}[${i}]`;
    const odd = `${list}.domain.devices.disks[${i}]`;
    return join(
      uniqueName(disk, names, field),
      each(rules, (rule) => rule(disk, field, odd)),
    );
  });
}

/** How a disk is attached, and on which bus. */
export function diskTarget(disk: Disk): { type: "disk" | "lun" | "cdrom" | ""; bus: string } {
  if (disk.disk) return { type: "disk", bus: disk.disk.bus ?? "" };
  if (disk.lun) return { type: "lun", bus: disk.lun.bus ?? "" };
  if (disk.cdrom) return { type: "cdrom", bus: disk.cdrom.bus ?? "" };
  return { type: "", bus: "" };
}

function uniqueName(disk: Disk, names: Set<string>, field: string): readonly Cause[] {
  if (names.has(disk.name)) {
    return invalid(
      `${field}.name`,
      `is ${quote(disk.name)}, as in an earlier disk; rename one of them`,
    );
  }
  names.add(disk.name);
  return fine;
}

const oneTarget: DiskRule = (disk, field) => {
  const targets = countSet(disk.disk, disk.lun, disk.cdrom);
  return targets <= 1 ? fine : invalid(field, `has ${targets} of disk, lun, cdrom; keep one`);
};

const pciAddress: DiskRule = ({ disk }, field, odd) => {
  if (!disk?.pciAddress) return fine;
  // KubeVirt puts the index behind the target: disks.domain.devices.disks.disk[0].pciAddress
  const reported = `${odd.replace(/(\[\d+\])$/, ".disk$1")}.pciAddress`;
  const subject = `${field}.disk.pciAddress`;
  return join(
    disk.bus === "virtio"
      ? fine
      : invalid(
          reported,
          `is set on the bus ${quote(disk.bus ?? "")}; only virtio disks support it`,
          subject,
        ),
    isPciAddress(disk.pciAddress)
      ? fine
      : invalid(
          reported,
          `is ${quote(disk.pciAddress)}; use domain:bus:slot.function in hexadecimal, for example 0000:81:01.0`,
          subject,
        ),
  );
};

const bootOrder: DiskRule = (disk, field) =>
  !isSet(disk.bootOrder) || disk.bootOrder >= 1
    ? fine
    : invalid(`${field}.bootOrder`, `is ${disk.bootOrder}; use 1 or more`);

const bus: DiskRule = (disk, field, odd) => {
  const target = diskTarget(disk);
  if (target.bus === "") return fine;
  return join(busOfTarget(disk, field), ioThread(disk, field, odd));
};

function busOfTarget(disk: Disk, field: string): readonly Cause[] {
  const target = diskTarget(disk);
  const busField = `${field}.${target.type}.bus`;
  switch (target.bus) {
    case "scsi":
    case "usb":
      return fine;
    case "virtio":
      if (target.type !== "cdrom") return fine;
      return invalid(busField, "is virtio, which does not support CD-ROMs; use sata, scsi or usb");
    case "sata":
      if (!disk.disk?.readonly) return fine;
      return invalid(
        busField,
        "is sata, which does not support read-only disks; use virtio or scsi",
      );
    case "ide":
      return invalid(
        busField,
        "is ide, which the machine types do not support; use sata or virtio",
      );
    default:
      return invalid(busField, `is ${quote(target.bus)}; use virtio, scsi, sata or usb`);
  }
}

function ioThread(disk: Disk, field: string, odd: string): readonly Cause[] {
  const target = diskTarget(disk);
  if (!disk.dedicatedIOThread || target.bus === "virtio") return fine;
  return notSupported(
    odd,
    `is true on the bus ${target.bus}; only virtio disks support it`,
    `${field}.dedicatedIOThread`,
  );
}

const serial: DiskRule = (disk, field) => {
  if (!disk.serial) return fine;
  const length = [...disk.serial].length;
  return join(
    /^[A-Za-z0-9_.+-]+$/.test(disk.serial)
      ? fine
      : invalid(`${field}.serial`, `is ${quote(disk.serial)}; use letters, digits and _ . + -`),
    length <= 256 ? fine : invalid(`${field}.serial`, `has ${length} characters; at most 256 fit`),
  );
};

const cacheModes: ReadonlySet<string> = new Set(["none", "writethrough", "writeback"]);

const cache: DiskRule = (disk, field) =>
  !disk.cache || cacheModes.has(disk.cache)
    ? fine
    : invalid(`${field}.cache`, `is ${quote(disk.cache)}; use ${oneOf(cacheModes)}`);

const io: DiskRule = (disk, field, odd) =>
  !disk.io || disk.io === "native" || disk.io === "threads"
    ? fine
    : notSupported(`${odd}.io`, `is ${quote(disk.io)}; use native or threads`, `${field}.io`);

const errorPolicies: ReadonlySet<string> = new Set(["stop", "ignore", "report", "enospace"]);

const errorPolicy: DiskRule = (disk, field) =>
  !isSet(disk.errorPolicy) || errorPolicies.has(disk.errorPolicy)
    ? fine
    : invalid(`${field}.errorPolicy`, `is ${quote(disk.errorPolicy)}; use ${oneOf(errorPolicies)}`);

/** Containers that serve disks of container images are named after them. */
const name: DiskRule = (disk, field, odd) =>
  each(dnsLabelProblems(disk.name), (problem) =>
    invalid(`${odd}.name`, `is ${quote(disk.name)}, which ${problem}`, `${field}.name`),
  );

const rules: readonly DiskRule[] = [
  oneTarget,
  pciAddress,
  bootOrder,
  bus,
  serial,
  cache,
  io,
  errorPolicy,
  name,
  blockSize,
];
