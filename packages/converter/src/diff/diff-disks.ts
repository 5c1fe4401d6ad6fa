import type { LauncherPaths } from "../launcher-paths.ts";
import { nameOfAlias } from "../model/alias.ts";
import type { DomainDisk } from "../model/disk.ts";
import type { Domain } from "../model/domain.ts";
import type { ChangeEffect, Comparison, DomainChange } from "./domain-change.ts";
import { valueDifferences } from "./value-differences.ts";

/** Disks to unplug, plug in, insert, grow or change. */
export function diffDisks(running: Domain, wanted: Domain, comparison: Comparison): DomainChange[] {
  const [before, after] = [running.devices.disks, wanted.devices.disks];
  const changes: DomainChange[] = [];
  /** Names and addresses that a disk keeps until the next start. */
  const taken = new Set<string>();
  for (const disk of before) {
    const other = after.find((candidate) => isSame(candidate, disk));
    const found = other ? compare(disk, other, comparison) : remove(disk, comparison);
    if (!other && found.some(({ effect }) => effect !== "live")) taken.add(disk.target.dev ?? "");
    changes.push(...found);
  }
  for (const disk of after) {
    if (!before.some((candidate) => isSame(candidate, disk)))
      changes.push(add(disk, running, taken, comparison));
  }
  return changes;
}

/** The name of its volume identifies a disk; without one, its place in the guest does. */
function isSame(one: DomainDisk, other: DomainDisk): boolean {
  const [name, otherName] = [nameOfAlias(one.alias), nameOfAlias(other.alias)];
  if (name !== undefined && otherName !== undefined) return name === otherName;
  return one.target.dev === other.target.dev;
}

function remove(disk: DomainDisk, { paths }: Comparison): DomainChange[] {
  const summary = `detach the disk ${label(disk)}`;
  const reason = whyNotPluggable(disk, paths);
  if (reason === undefined) return [{ kind: "detach-disk", disk, effect: "live", summary }];
  const detach: DomainChange = {
    kind: "detach-disk",
    disk,
    effect: "needs-restart",
    summary,
    reason,
  };
  if (disk.device !== "cdrom" || !isHotplugOrEmpty(disk, paths) || pathOf(disk) === undefined)
    return [detach];
  // The medium can be removed at once, the drive cannot.
  return [changeMedia(disk, { ...disk, source: {} }), detach];
}

function add(
  disk: DomainDisk,
  running: Domain,
  taken: ReadonlySet<string>,
  { paths }: Comparison,
): DomainChange {
  const summary = `attach the disk ${label(disk)}`;
  const reason = whyNotPluggable(disk, paths) ?? whyNoPlace(disk, running, taken);
  return { kind: "attach-disk", disk, summary, ...outcome(reason) };
}

function outcome(reason: string | undefined): { effect: ChangeEffect; reason?: string } {
  return reason === undefined ? { effect: "live" } : { effect: "needs-restart", reason };
}

/** Why a disk cannot be added or removed while the guest runs. */
function whyNotPluggable(disk: DomainDisk, paths: LauncherPaths): string | undefined {
  const { bus } = disk.target;
  if (disk.device === "cdrom")
    return "a CD-ROM drive exists from the start, only its medium can change";
  if (bus && bus !== "virtio" && bus !== "scsi") return `the bus ${bus} does not support hotplug`;
  const path = pathOf(disk);
  if (path !== undefined && paths.isHotplugged(path)) return undefined;
  return "its volume is mounted in the Pod from the start and not hotplugged";
}

function whyNoPlace(
  { target }: DomainDisk,
  { devices }: Domain,
  taken: ReadonlySet<string>,
): string | undefined {
  if (target.dev !== undefined && taken.has(target.dev)) {
    return `${target.dev} is in use by a disk that stays until the restart`;
  }
  if (target.bus === "scsi" && !devices.controllers.some(({ type }) => type === "scsi")) {
    return "the guest has no SCSI controller";
  }
  return undefined;
}

function compare(
  running: DomainDisk,
  wanted: DomainDisk,
  { filledIn, paths }: Comparison,
): DomainChange[] {
  const changes: DomainChange[] = [];
  const fields = valueDifferences(comparable(running), comparable(wanted), "", filledIn).map(
    ({ path }) => path,
  );
  if (isOtherSource(running, wanted)) {
    const drive = running.device === "cdrom" && wanted.device === "cdrom";
    if (drive && isHotplugOrEmpty(running, paths) && isHotplugOrEmpty(wanted, paths)) {
      changes.push(changeMedia(running, wanted));
    } else {
      fields.push("source");
    }
  }
  const bytes = growth(running, wanted);
  if (bytes !== undefined) {
    const summary = `grow the disk ${label(wanted)} to ${bytes} bytes`;
    changes.push({ kind: "resize-disk", disk: wanted, bytes, effect: "live", summary });
  }
  if (fields.length > 0) {
    const summary = `change ${fields.join(", ")} of the disk ${label(wanted)}`;
    const reason = "only the medium of a CD-ROM drive and the size can change while the guest runs";
    changes.push({
      kind: "change-disk",
      disk: wanted,
      fields,
      effect: "needs-restart",
      summary,
      reason,
    });
  }
  return changes;
}

/** Without what identifies it, what is compared separately, and what libvirt finds out itself. */
function comparable(disk: DomainDisk): object {
  const {
    alias: _a,
    source: _s,
    backingStore: _b,
    capacity: _c,
    filesystemOverhead: _f,
    ...own
  } = disk;
  const { tray: _t, ...target } = own.target;
  if (own.device !== "cdrom") return { ...own, target };
  // A drive without a medium has no type or format.
  const { type: _type, driver: _driver, ...drive } = own;
  return { ...drive, target };
}

function changeMedia(running: DomainDisk, wanted: DomainDisk): DomainChange {
  const path = pathOf(wanted);
  const summary =
    path === undefined
      ? `eject the medium of the drive ${label(running)}`
      : `insert ${path} into the drive ${label(running)}`;
  const { source } = wanted;
  const type = path === undefined ? "block" : source.file === undefined ? "block" : "file";
  const driver = { ...(running.driver ?? { name: "qemu" }), type: "raw" };
  const disk = { ...running, type, driver, source: path === undefined ? {} : source };
  return { kind: "change-media", disk, effect: "live", summary };
}

function isOtherSource(running: DomainDisk, wanted: DomainDisk): boolean {
  const [before, after] = [pathOf(running), pathOf(wanted)];
  if (before !== undefined || after !== undefined) return before !== after;
  return (
    running.source.protocol !== wanted.source.protocol || running.source.name !== wanted.source.name
  );
}

/** The file or device that holds the data, below an overlay that tracks changed blocks. */
function pathOf({ source }: DomainDisk): string | undefined {
  const store = source.dataStore?.source;
  return (store?.file ?? store?.dev ?? source.file ?? source.dev) || undefined;
}

function isHotplugOrEmpty(disk: DomainDisk, paths: LauncherPaths): boolean {
  const path = pathOf(disk);
  return path === undefined || paths.isHotplugged(path);
}

function growth(running: DomainDisk, wanted: DomainDisk): number | bigint | undefined {
  const { capacity } = wanted;
  if (capacity === undefined || running.capacity === undefined) return undefined;
  return capacity > running.capacity ? capacity : undefined;
}

function label({ alias, target }: DomainDisk): string {
  const name = nameOfAlias(alias);
  if (name === undefined) return target.dev ?? "without a name";
  return target.dev === undefined ? `"${name}"` : `"${name}" (${target.dev})`;
}
