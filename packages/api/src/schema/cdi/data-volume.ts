import { type LabelSelector, LabelSelectorSchema } from "../core/label-selector.ts";
import {
  type PersistentVolumeClaimSpec,
  PersistentVolumeClaimSpecSchema,
  type PersistentVolumeMode,
  PersistentVolumeModeSchema,
  type VolumeResourceRequirements,
  VolumeResourceRequirementsSchema,
} from "../core/persistent-volume-claim.ts";
import {
  type TypedLocalObjectReference,
  TypedLocalObjectReferenceSchema,
  type TypedObjectReference,
  TypedObjectReferenceSchema,
} from "../core/typed-object-reference.ts";
import {
  array,
  boolean,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  withRules,
} from "../schema.ts";
import { type CdiDataVolumeSource, CdiDataVolumeSourceSchema } from "./data-volume-source.ts";

/** One step of a multi-stage import. */
export interface DataVolumeCheckpoint {
  current: string;
  /** Empty for the first one. */
  previous: string;
}

export const DataVolumeCheckpointSchema: Schema<DataVolumeCheckpoint> =
  object<DataVolumeCheckpoint>({
    current: required(string),
    previous: required(string),
  });

/** A source that is a separate object. */
export interface DataVolumeSourceRef {
  kind: string;
  name: string;
  namespace?: string;
}

export const DataVolumeSourceRefSchema: Schema<DataVolumeSourceRef> = object<DataVolumeSourceRef>({
  kind: required(string),
  name: required(string),
  namespace: string,
});

/** A claim whose gaps the importer fills in from the storage profile. */
export interface StorageSpec {
  accessModes?: string[];
  dataSource?: TypedLocalObjectReference;
  dataSourceRef?: TypedObjectReference;
  resources?: VolumeResourceRequirements;
  selector?: LabelSelector;
  storageClassName?: string;
  volumeMode?: PersistentVolumeMode;
  volumeName?: string;
}

export const StorageSpecSchema: Schema<StorageSpec> = object<StorageSpec>({
  accessModes: array(string),
  dataSource: TypedLocalObjectReferenceSchema,
  dataSourceRef: TypedObjectReferenceSchema,
  resources: VolumeResourceRequirementsSchema,
  selector: LabelSelectorSchema,
  storageClassName: string,
  volumeMode: PersistentVolumeModeSchema,
  volumeName: string,
});

/** Whether the content is a disk image or files. */
export type DataVolumeContentType = OpenEnum<typeof DataVolumeContentTypeValues>;
export const DataVolumeContentTypeValues = ["kubevirt", "archive"] as const;
export const DataVolumeContentTypeSchema: Schema<DataVolumeContentType> = openEnum(
  DataVolumeContentTypeValues,
);

/** Storage that CDI (the containerized data importer) fills. */
export interface DataVolumeSpec {
  checkpoints?: DataVolumeCheckpoint[];
  contentType?: DataVolumeContentType;
  /** Whether the last of the checkpoints ends the import. */
  finalCheckpoint?: boolean;
  /** Whether all space is written at the start. */
  preallocation?: boolean;
  priorityClassName?: string;
  /** The complete claim; otherwise `storage`. */
  pvc?: PersistentVolumeClaimSpec;
  source?: CdiDataVolumeSource;
  sourceRef?: DataVolumeSourceRef;
  /** The claim with gaps that are filled in from the storage profile; otherwise `pvc`. */
  storage?: StorageSpec;
}

export const DataVolumeSpecSchema: Schema<DataVolumeSpec> = object<DataVolumeSpec>({
  checkpoints: array(DataVolumeCheckpointSchema),
  contentType: withRules(DataVolumeContentTypeSchema, { closed: true }),
  finalCheckpoint: boolean,
  preallocation: boolean,
  priorityClassName: string,
  pvc: PersistentVolumeClaimSpecSchema,
  source: CdiDataVolumeSourceSchema,
  sourceRef: DataVolumeSourceRefSchema,
  storage: StorageSpecSchema,
});
