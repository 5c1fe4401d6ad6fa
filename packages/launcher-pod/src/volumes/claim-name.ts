import type { Volume } from "@virtkit/api/schema";

/** The claim behind a volume, or undefined. A data volume's claim has its name. */
export function claimNameOf({ dataVolume, persistentVolumeClaim, memoryDump }: Volume): string {
  if (dataVolume) return dataVolume.name;
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName;
  return memoryDump?.claimName ?? "";
}
