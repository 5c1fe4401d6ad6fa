import { type Names, names } from "@virtkit/api/names";
import { newQuantity, type QuantityFormat } from "@virtkit/api/quantity";
import type {
  PersistentVolumeClaimInfo,
  VirtualMachineInstance,
  Volume,
} from "@virtkit/api/schema";
import { isBlockClaim } from "@virtkit/api/volumes";
import { quantityAt } from "../compute/byte-count.ts";
import { invalidVmi } from "../converter-error.ts";
import { LauncherPaths } from "../launcher-paths.ts";
import { malformedVmi } from "../malformed-vmi.ts";

const kubevirtNames = names();

/**
 * Turns volumes on claims with a file system into image files on those claims, as the node agent does before the
 * launcher sees the VMI. Hotplugged volumes, block devices, shared file systems and claims that the status does not
 * mention stay as they are. Returns a copy if anything changes.
 *
 * @throws ConverterError if a claim has no size or less than 1 MiB, or if the VMI has the wrong shape.
 */
export function withHostDisks(
  vmi: VirtualMachineInstance,
  { directories }: Pick<Names, "directories"> = kubevirtNames,
): VirtualMachineInstance {
  try {
    return withImages(vmi, new LauncherPaths(directories));
  } catch (error) {
    throw malformedVmi(error, vmi);
  }
}

function withImages(vmi: VirtualMachineInstance, paths: LauncherPaths): VirtualMachineInstance {
  const { status, spec } = vmi;
  const claims = new Map<string, PersistentVolumeClaimInfo>();
  const others = new Set((spec.domain.devices?.filesystems ?? []).map(nameOf));
  for (const volume of status?.volumeStatus ?? []) {
    if (volume.hotplugVolume) others.add(nameOf(volume));
    if (volume.persistentVolumeClaimInfo) {
      claims.set(nameOf(volume), volume.persistentVolumeClaimInfo);
    }
  }
  const volumes = (spec.volumes ?? []).map((volume, at) => {
    if (!volume.persistentVolumeClaim && !volume.dataVolume?.name) return volume;
    const claim = claims.get(nameOf(volume));
    const isImage = claim && !isBlockClaim(claim) && !others.has(nameOf(volume));
    return isImage ? hostDisk(volume, claim, at, paths) : volume;
  });
  return spec.volumes ? { ...vmi, spec: { ...spec, volumes } } : vmi;
}

/** A missing name is empty. */
function nameOf({ name }: { readonly name?: string | null }): string {
  return name ?? "";
}

const mebibyte = 1024n * 1024n;

function hostDisk(
  volume: Volume,
  claim: PersistentVolumeClaimInfo,
  at: number,
  paths: LauncherPaths,
): Volume {
  const { persistentVolumeClaim: _claim, dataVolume: _dataVolume, ...rest } = volume;
  const { bytes, format } = claimSize(claim, at);
  const size = bytes - (bytes % mebibyte);
  if (size <= 0n) {
    throw invalidVmi(
      `spec.volumes[${at}]`,
      `its claim has ${bytes} bytes; at least 1 MiB is needed`,
    );
  }
  return {
    ...rest,
    hostDisk: {
      path: paths.filesystemImage(nameOf(volume)),
      type: "DiskOrCreate",
      capacity: newQuantity(size, format).toString(),
      shared: (claim.accessModes ?? []).includes("ReadWriteMany"),
    },
  };
}

/** The requested size, if that is less than the capacity; in the capacity's format. */
function claimSize(
  { capacity, requests }: PersistentVolumeClaimInfo,
  at: number,
): { bytes: bigint; format: QuantityFormat } {
  const path = `spec.volumes[${at}]`;
  const [there, wanted] = [capacity?.["storage"], requests?.["storage"]];
  const size = there === undefined ? undefined : quantityAt(there, path);
  const request = wanted === undefined ? undefined : quantityAt(wanted, path);
  const smaller = request && (!size || size.cmp(request) > 0) ? request : size;
  if (!smaller) throw invalidVmi(path, "its claim has no size in the status");
  // Kubernetes writes an amount of no known format with an exponent, if any.
  return { bytes: smaller.value(), format: size?.format ?? "DecimalExponent" };
}
