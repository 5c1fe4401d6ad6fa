import { fromBytes } from "@virtkit/api/quantity";
import type {
  PersistentVolumeClaimInfo,
  VirtualMachineInstance,
  Volume,
  VolumeStatus,
} from "@virtkit/api/schema";
import { quantityAt } from "../compute/byte-count.ts";
import { invalidVmi } from "../converter-error.ts";
import { filesystemImage } from "../paths.ts";

/**
 * Turns volumes on claims with a file system into image files on them, as the node agent does before
 * the launcher sees the VMI. Hotplugged volumes, block devices, shared file systems and claims of
 * which the status says nothing stay as they are. Returns a copy where anything changes.
 *
 * @throws ConverterError if a claim has no size, or less than 1 MiB.
 */
export function withHostDisks(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const statuses = new Map((vmi.status?.volumeStatus ?? []).map((status) => [status.name, status]));
  const shared = new Set((vmi.spec.domain.devices?.filesystems ?? []).map(({ name }) => name));
  const volumes = (vmi.spec.volumes ?? []).map((volume, at) => {
    const claim = imageClaim(volume, statuses.get(volume.name));
    return claim && !shared.has(volume.name) ? hostDisk(volume, claim, at) : volume;
  });
  return vmi.spec.volumes ? { ...vmi, spec: { ...vmi.spec, volumes } } : vmi;
}

/** The claim behind a volume, if an image file is to be made on it. */
function imageClaim(
  { persistentVolumeClaim, dataVolume }: Volume,
  status: VolumeStatus | undefined,
): PersistentVolumeClaimInfo | undefined {
  if (!persistentVolumeClaim && !dataVolume?.name) return undefined;
  const claim = status?.persistentVolumeClaimInfo;
  return status?.hotplugVolume || claim?.volumeMode === "Block" ? undefined : claim;
}

const mebibyte = 1024n * 1024n;

function hostDisk(volume: Volume, claim: PersistentVolumeClaimInfo, at: number): Volume {
  const { persistentVolumeClaim: _claim, dataVolume: _dataVolume, ...rest } = volume;
  const bytes = claimSize(claim, at);
  const size = bytes - (bytes % mebibyte);
  if (size <= 0n) {
    throw invalidVmi(`spec.volumes[${at}]`, `its claim has ${bytes} bytes; it needs 1 MiB or more`);
  }
  return {
    ...rest,
    hostDisk: {
      path: filesystemImage(volume.name),
      type: "DiskOrCreate",
      capacity: fromBytes(size).toString(),
      shared: (claim.accessModes ?? []).includes("ReadWriteMany"),
    },
  };
}

/** What was asked for, if that is less than what is there. */
function claimSize({ capacity, requests }: PersistentVolumeClaimInfo, at: number): bigint {
  const path = `spec.volumes[${at}]`;
  const [there, wanted] = [capacity?.["storage"], requests?.["storage"]];
  const size = there === undefined ? undefined : quantityAt(there, path).value();
  const request = wanted === undefined ? undefined : quantityAt(wanted, path).value();
  if (request !== undefined && (size === undefined || size > request)) return request;
  if (size === undefined) throw invalidVmi(path, "its claim states no size in the status");
  return size;
}
