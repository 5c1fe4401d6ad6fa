import type { Disk, PersistentVolumeClaimInfo, Volume } from "@virtkit/api/schema";
import { quantityAt, small } from "../compute/byte-count.ts";
import { vcpusOf } from "../compute/cpu-topology.ts";
import { hasOwnThread } from "../compute/io-thread-plan.ts";
import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainDiskIoThreads } from "../model/disk.ts";
import { blockSizeOf } from "./block-size.ts";
import { type DraftDisk, diskDevice } from "./disk-device.ts";
import { TargetNames } from "./target-names.ts";
import { connectHotplugVolume, connectNothing, connectVolume } from "./volume-source.ts";

export const disks: Configurator = {
  name: "disks",
  summary: "Disks, with their storage and the threads that serve them.",
  configure(draft: Draft): void {
    const list = draft.devices.disks ?? [];
    if (list.length === 0) return;
    const volumes = indexVolumes(draft.vmi.spec.volumes ?? []);
    const claims = indexClaims(draft);
    const names = new TargetNames(list, draft.vmi.status?.volumeStatus ?? []);
    const threads = new ThreadTurns(draft);
    const queues = draft.devices.blockMultiQueue ? vcpusOf(draft.topology) || 1 : undefined;
    for (const [at, disk] of list.entries()) {
      const path = `spec.domain.devices.disks[${at}]`;
      const name = disk.name ?? "";
      const target = diskDevice(draft, disk, path, names);
      addClaim(draft, disk, target, claims.get(name), path);
      if (target.target.bus === "virtio") target.driver.queues = queues;
      const ready = connect(draft, disk, target, volumes.get(name), path);
      target.blockio = blockSizeOf(draft, disk, target, path);
      target.driver.errorPolicy = errorPolicyOf(disk, path);
      threads.assign(disk, target);
      if (ready) draft.domain.devices.disks.push(target);
    }
  },
};

interface IndexedVolume {
  readonly volume: Volume;
  readonly index: number;
}

function indexVolumes(volumes: readonly Volume[]): Map<string, IndexedVolume> {
  const byName = new Map<string, IndexedVolume>();
  for (const [index, volume] of volumes.entries()) byName.set(volume.name ?? "", { volume, index });
  return byName;
}

function indexClaims({ vmi }: Draft): Map<string, PersistentVolumeClaimInfo | undefined> {
  const byName = new Map<string, PersistentVolumeClaimInfo | undefined>();
  for (const { name, persistentVolumeClaimInfo } of vmi.status?.volumeStatus ?? []) {
    byName.set(name ?? "", persistentVolumeClaimInfo ?? undefined);
  }
  return byName;
}

/** What a disk on a claim can give back, and how far it can grow. */
function addClaim(
  { context }: Draft,
  disk: Disk,
  target: DraftDisk,
  claim: PersistentVolumeClaimInfo | undefined,
  path: string,
): void {
  if (!disk.disk && !disk.lun) return;
  if (!context.volumesDiscardIgnore?.includes(disk.name ?? "")) target.driver.discard = "unmap";
  if (!claim) return;
  target.filesystemOverhead = claim.filesystemOverhead ?? undefined;
  target.capacity = capacityOf(claim, path);
}

/** The smaller of the requested and the actual size; `undefined` unless both are known. */
function capacityOf(
  { capacity, requests }: PersistentVolumeClaimInfo,
  path: string,
): number | bigint | undefined {
  const [there, wanted] = [capacity?.["storage"], requests?.["storage"]];
  if (there === undefined || wanted === undefined) return undefined;
  const one = quantityAt(there, `${path} (capacity of its claim)`).asInt64();
  const other = quantityAt(wanted, `${path} (requests of its claim)`).asInt64();
  if (one === undefined || other === undefined) return undefined;
  // Math.min takes no bigint.
  const [smaller = one] = [one, other].sort((a, b) => (a < b ? -1 : 1));
  return small(smaller);
}

/** Whether the volume is present already; a disk that waits for its volume is left out. */
function connect(
  draft: Draft,
  disk: Disk,
  target: DraftDisk,
  found: IndexedVolume | undefined,
  path: string,
): boolean {
  if (!found) {
    if (!disk.cdrom) {
      const message = `volume "${disk.name}" does not exist; add it to spec.volumes`;
      throw invalidVmi(`${path}.name`, message);
    }
    connectNothing(target);
    return true;
  }
  const { permanentVolumes, hotplugVolumes } = draft.context;
  const name = disk.name ?? "";
  const hotplug = hotplugVolumes?.[name];
  if (hotplug) connectHotplugVolume(draft, target, found.volume, found.index);
  else connectVolume(draft, target, found.volume, found.index);
  if (hotplug?.phase === "MountedToPod" || hotplug?.phase === "Ready") return true;
  // Before the first status there are none, and all disks are present.
  const permanent = permanentVolumes ?? {};
  return Object.hasOwn(permanent, name) || isEmpty(permanent);
}

function isEmpty(record: object): boolean {
  for (const _key in record) return false;
  return true;
}

const errorPolicies: readonly string[] = ["stop", "ignore", "report", "enospace"];

function errorPolicyOf({ errorPolicy }: Disk, path: string): string {
  const policy = errorPolicy ?? "stop";
  if (errorPolicies.includes(policy)) return policy;
  const message = `"${policy}" is not an error policy; use ${errorPolicies.join(", ")}`;
  throw invalidVmi(`${path}.errorPolicy`, message);
}

/** Gives virtio disks their threads: their own, a turn on a shared one, or the pool. */
class ThreadTurns {
  readonly #used: boolean;
  readonly #shared: number;
  readonly #pool: number | undefined;
  #nextShared = 1;
  #nextOwn: number;

  constructor({ ioThreads: { used, shared, pool } }: Draft) {
    this.#used = used;
    this.#shared = shared;
    this.#nextOwn = shared + 1;
    this.#pool = pool;
  }

  assign(disk: Disk, { target, driver }: DraftDisk): void {
    if (!this.#used || target.bus !== "virtio") return;
    if (this.#pool !== undefined) {
      driver.iothreads = threadPool(this.#pool);
    } else if (hasOwnThread(disk)) {
      driver.iothread = this.#nextOwn++;
    } else {
      driver.iothread = this.#nextShared;
      this.#nextShared = (this.#nextShared % this.#shared) + 1;
    }
  }
}

function threadPool(count: number): DomainDiskIoThreads {
  return { iothread: Array.from({ length: count }, (_, at) => ({ id: at + 1 })) };
}
