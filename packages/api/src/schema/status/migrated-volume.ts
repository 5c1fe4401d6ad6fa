import { object, required, type Schema, string } from "../schema.ts";
import {
  type PersistentVolumeClaimInfo,
  PersistentVolumeClaimInfoSchema,
} from "./volume-status.ts";

/** A volume whose content moves to another claim. */
export interface StorageMigratedVolumeInfo {
  destinationPVCInfo?: PersistentVolumeClaimInfo;
  sourcePVCInfo?: PersistentVolumeClaimInfo;
  volumeName: string;
}

export const StorageMigratedVolumeInfoSchema: Schema<StorageMigratedVolumeInfo> =
  object<StorageMigratedVolumeInfo>({
    destinationPVCInfo: PersistentVolumeClaimInfoSchema,
    sourcePVCInfo: PersistentVolumeClaimInfoSchema,
    volumeName: required(string),
  });
