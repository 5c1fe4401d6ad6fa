import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  array,
  boolean,
  map,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import { type LabelSelector, LabelSelectorSchema } from "./label-selector.ts";
import {
  type TypedLocalObjectReference,
  TypedLocalObjectReferenceSchema,
  type TypedObjectReference,
  TypedObjectReferenceSchema,
} from "./typed-object-reference.ts";

/** How much storage is requested, and how much is allowed. */
export interface VolumeResourceRequirements {
  limits?: Record<string, QuantityInput>;
  requests?: Record<string, QuantityInput>;
}

export const VolumeResourceRequirementsSchema: Schema<VolumeResourceRequirements> =
  object<VolumeResourceRequirements>({
    limits: map(QuantityInputSchema),
    requests: map(QuantityInputSchema),
  });

/** Whether storage is a device or a file system. */
export type PersistentVolumeMode = OpenEnum<typeof PersistentVolumeModeValues>;
export const PersistentVolumeModeValues = ["Block", "Filesystem", "FromStorageProfile"] as const;
export const PersistentVolumeModeSchema: Schema<PersistentVolumeMode> = openEnum(
  PersistentVolumeModeValues,
);

/** A request for storage. */
export interface PersistentVolumeClaimSpec {
  accessModes?: string[];
  dataSource?: TypedLocalObjectReference;
  /** What to fill the new volume from. */
  dataSourceRef?: TypedObjectReference;
  resources?: VolumeResourceRequirements;
  selector?: LabelSelector;
  /** The default class of the cluster if absent; `""` means no class at all. */
  storageClassName?: string;
  volumeAttributesClassName?: string;
  /** `Filesystem` if absent. */
  volumeMode?: PersistentVolumeMode;
  /** Binds to this volume. */
  volumeName?: string;
}

export const PersistentVolumeClaimSpecSchema: Schema<PersistentVolumeClaimSpec> =
  object<PersistentVolumeClaimSpec>({
    accessModes: array(string, { listType: "atomic" }),
    dataSource: TypedLocalObjectReferenceSchema,
    dataSourceRef: TypedObjectReferenceSchema,
    resources: VolumeResourceRequirementsSchema,
    selector: LabelSelectorSchema,
    storageClassName: string,
    volumeAttributesClassName: string,
    volumeMode: PersistentVolumeModeSchema,
    volumeName: string,
  });

/** A claim as Kubernetes mounts it, without KubeVirt's additions. */
export interface CorePersistentVolumeClaimVolumeSource {
  claimName: string;
  readOnly?: boolean;
}

export const CorePersistentVolumeClaimVolumeSourceSchema: Schema<CorePersistentVolumeClaimVolumeSource> =
  object<CorePersistentVolumeClaimVolumeSource>({
    claimName: required(string),
    readOnly: boolean,
  });
