import type { Disk, VolumeStatus } from "@virtkit/api/schema";

/** A device name in the guest and its number: `vda` is 0. */
export interface TargetName {
  readonly dev: string;
  readonly unit: number;
}

/** Names with at most three letters; higher numbers are not tried. */
const maxUnits = 26 ** 3;

/**
 * Names disks: `vd*` on virtio, `sd*` on SATA, SCSI and USB. A disk whose volume has a name in the status keeps
 * it, so that the names in a running guest do not change when an earlier disk is removed.
 */
export class TargetNames {
  readonly #byPrefix = new Map<string, PrefixNames>();

  constructor(disks: readonly Disk[], statuses: readonly VolumeStatus[]) {
    const targets = new Map<string, string>();
    for (const { name, target } of statuses) if (target) targets.set(name, target);
    if (targets.size === 0) return;
    for (const disk of disks) {
      const target = targets.get(disk.name);
      const device = disk.disk ?? disk.lun ?? disk.cdrom;
      if (target !== undefined && device) this.#names(device.bus).keep(disk.name, target);
    }
  }

  /** The name of a disk; by default the next free one. Empty once there are none left. */
  nameOf(disk: string, bus: string | undefined): TargetName {
    return this.#names(bus).nameOf(disk);
  }

  #names(bus: string | undefined): PrefixNames {
    const prefix = prefixOf(bus);
    const known = this.#byPrefix.get(prefix);
    if (known) return known;
    const made = new PrefixNames(prefix);
    this.#byPrefix.set(prefix, made);
    return made;
  }
}

class PrefixNames {
  readonly #prefix: string;
  readonly #byDisk = new Map<string, string>();
  readonly #used = new Set<string>();
  /** All names below are taken. */
  #next = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  keep(disk: string, target: string): void {
    this.#byDisk.set(disk, target);
    this.#used.add(target);
  }

  nameOf(disk: string): TargetName {
    const kept = this.#byDisk.get(disk);
    if (kept !== undefined) return { dev: kept, unit: unitOf(this.#prefix, kept) };
    for (; this.#next < maxUnits; this.#next++) {
      const dev = formatTarget(this.#prefix, this.#next);
      if (this.#used.has(dev)) continue;
      this.keep(disk, dev);
      return { dev, unit: this.#next };
    }
    return { dev: "", unit: 0 };
  }
}

function prefixOf(bus: string | undefined): string {
  if (bus === "virtio") return "vd";
  return bus === "sata" || bus === "scsi" || bus === "usb" ? "sd" : "";
}

/** The name for a number as Linux counts disks: a to z, then aa. */
export function formatTarget(prefix: string, unit: number): string {
  let letters = "";
  for (let rest = unit; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    letters = String.fromCharCode(97 + (rest % 26)) + letters;
  }
  return prefix + letters;
}

/** The number of a name; 0 for one that Linux would not use. */
function unitOf(prefix: string, dev: string): number {
  const letters = dev.slice(prefix.length);
  if (!dev.startsWith(prefix) || !/^[a-z]{1,3}$/.test(letters)) return 0;
  let unit = -1;
  for (const letter of letters) unit = (unit + 1) * 26 + letter.charCodeAt(0) - 97;
  return unit < maxUnits ? unit : 0;
}
