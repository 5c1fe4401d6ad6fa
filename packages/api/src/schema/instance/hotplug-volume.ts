import { type Disk, DiskSchema } from "../devices/disk.ts";
import { array, object, required, type Schema, string } from "../schema.ts";
import {
  type DataVolumeSource,
  DataVolumeSourceSchema,
  type PersistentVolumeClaimVolumeSource,
  PersistentVolumeClaimVolumeSourceSchema,
} from "./volume.ts";

/** Storage that can be attached to a running VMI. */
export interface HotplugVolumeSource {
  dataVolume?: DataVolumeSource;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
}

export const HotplugVolumeSourceSchema: Schema<HotplugVolumeSource> = object<HotplugVolumeSource>({
  dataVolume: DataVolumeSourceSchema,
  persistentVolumeClaim: PersistentVolumeClaimVolumeSourceSchema,
});

/** A request to attach a volume. */
export interface AddVolumeOptions {
  disk: Disk;
  /** `All` checks the request without carrying it out. */
  dryRun?: string[];
  name: string;
  volumeSource: HotplugVolumeSource;
}

export const AddVolumeOptionsSchema: Schema<AddVolumeOptions> = object<AddVolumeOptions>({
  disk: required(DiskSchema),
  dryRun: array(string, { listType: "atomic" }),
  name: required(string),
  volumeSource: required(HotplugVolumeSourceSchema),
});

/** A request to detach a volume. */
export interface RemoveVolumeOptions {
  /** `All` checks the request without carrying it out. */
  dryRun?: string[];
  name: string;
}

export const RemoveVolumeOptionsSchema: Schema<RemoveVolumeOptions> = object<RemoveVolumeOptions>({
  dryRun: array(string, { listType: "atomic" }),
  name: required(string),
});
