import type { VirtualMachineInstance } from "../schema/index.ts";

/** Whether a claim's spec or a VMI's status says that it is a block device. */
export function isBlockClaim(
  claim: { readonly volumeMode?: string | null } | null | undefined,
): boolean {
  return claim?.volumeMode === "Block";
}

/** Names of a VMI's volumes that are block devices, in their order, according to its status. */
export function blockVolumes({ spec, status }: VirtualMachineInstance): readonly string[] {
  // If a volume has several statuses, the last one counts.
  const claims = new Map(
    (status?.volumeStatus ?? []).map((one) => [one.name, one.persistentVolumeClaimInfo]),
  );
  return (spec.volumes ?? [])
    .filter((volume) => volume.persistentVolumeClaim || volume.dataVolume || volume.ephemeral)
    .filter(({ name }) => isBlockClaim(claims.get(name)))
    .map(({ name }) => name);
}
