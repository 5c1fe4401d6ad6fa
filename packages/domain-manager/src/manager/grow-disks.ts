import { stat, statfs } from "node:fs/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Domain } from "@virtkit/converter";
import { type DomainDisk, nameOfAlias } from "@virtkit/converter/model";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { PendingChange } from "../status/domain-status.ts";
import type { GuestSession } from "./guest-session.ts";
import type { LocalPath } from "./launcher-files.ts";

const mebibyte = 1n << 20n;

/** What growing a disk needs. */
interface DiskGrower extends Pick<GuestSession, "libvirt"> {
  readonly localPath: LocalPath;
}

/**
 * Lets a running guest see that the claims of its disks have grown. Returns those that could not be
 * grown: they keep their size, and the next sync tries again.
 */
export async function growDisks(
  grower: DiskGrower,
  dom: DomainRef,
  { status }: VirtualMachineInstance,
  { devices }: Domain,
  options: CallOptions,
): Promise<readonly PendingChange[]> {
  const small: PendingChange[] = [];
  const claims = new Set(
    (status?.volumeStatus ?? []).flatMap(({ name, persistentVolumeClaimInfo }) =>
      persistentVolumeClaimInfo ? [name] : [],
    ),
  );
  for (const disk of devices.disks) {
    const name = nameOfAlias(disk.alias);
    if (name === undefined || !claims.has(name)) continue;
    try {
      await growDisk(grower, dom, disk, options);
    } catch (error) {
      if (!isLibvirtError(error) || error.code !== "LIBVIRT_REMOTE") throw error;
      small.push({ effect: "retry", summary: `grow the disk "${name}"`, reason: error.message });
    }
  }
  return small;
}

async function growDisk(
  { libvirt, localPath }: DiskGrower,
  dom: DomainRef,
  disk: DomainDisk,
  options: CallOptions,
): Promise<void> {
  const path = disk.source.file ?? disk.source.dev;
  if (!path || disk.source.dataStore) return;
  const info = await libvirt.call("domainGetBlockInfo", { dom, path }, options);
  // Without a capacity libvirt does not know what it is.
  if (info.capacity === 0n) return;
  if (disk.source.dev) {
    if (info.capacity >= info.physical) return;
    const flags = ["bytes", "capacity"] as const;
    await libvirt.call("domainBlockResize", { dom, disk: path, size: 0n, flags }, options);
    return;
  }
  const size = await imageSize(disk, localPath(path));
  if (size === undefined || size <= info.capacity) return;
  await libvirt.call("domainBlockResize", { dom, disk: path, size, flags: ["bytes"] }, options);
}

/**
 * The largest possible image on a claim's file system: the claim's size minus the file system's
 * overhead, in whole MiB; never more than the available space.
 */
async function imageSize(
  { capacity, filesystemOverhead }: DomainDisk,
  path: string,
): Promise<bigint | undefined> {
  const overhead = Number(filesystemOverhead);
  if (capacity === undefined || filesystemOverhead === undefined) return undefined;
  if (!(overhead >= 0 && overhead <= 1)) return undefined;
  const space = await usableSpace(path);
  const wished = BigInt(capacity);
  const available = space !== undefined && space < wished ? space : wished;
  // Six digits are more than KubeVirt keeps of an overhead.
  const size = (available * BigInt(Math.round((1 - overhead) * 1e6))) / 1_000_000n;
  const whole = size - (size % mebibyte);
  return whole > 0n ? whole : undefined;
}

async function usableSpace(path: string): Promise<bigint | undefined> {
  try {
    const [file, system] = await Promise.all([
      stat(path, { bigint: true }),
      statfs(path, { bigint: true }),
    ]);
    return file.blocks * 512n + system.bavail * system.bsize;
  } catch {
    // Unknown: then only the claim's own size counts.
    return undefined;
  }
}
