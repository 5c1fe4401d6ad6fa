import { type DownwardAPIVolumeFile, DownwardAPIVolumeFileSchema } from "../core/downward-api.ts";
import {
  type LocalObjectReference,
  LocalObjectReferenceSchema,
} from "../core/local-object-reference.ts";
import {
  type CorePersistentVolumeClaimVolumeSource,
  CorePersistentVolumeClaimVolumeSourceSchema,
} from "../core/persistent-volume-claim.ts";
import { type PullPolicy, PullPolicySchema } from "../core/pull-policy.ts";
import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  array,
  boolean,
  type Empty,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  withRules,
} from "../schema.ts";
import {
  type CloudInitConfigDriveSource,
  CloudInitConfigDriveSourceSchema,
  type CloudInitNoCloudSource,
  CloudInitNoCloudSourceSchema,
} from "./cloud-init.ts";

/** A ConfigMap as files on a disk or in a file system. */
export interface ConfigMapVolumeSource {
  name?: string;
  /** Whether it may be missing. */
  optional?: boolean;
  /** Label of the disk that the guest sees. */
  volumeLabel?: string;
}

export const ConfigMapVolumeSourceSchema: Schema<ConfigMapVolumeSource> =
  object<ConfigMapVolumeSource>(
    {
      name: withRules(string, { default: "" }),
      optional: boolean,
      volumeLabel: string,
    },
    { atomic: true },
  );

/** A disk image in a container image; writes are lost with the Pod. */
export interface ContainerDiskSource {
  image: string;
  imagePullPolicy?: PullPolicy;
  /** Name of a Secret with credentials for the registry. */
  imagePullSecret?: string;
  /** Path of the image in the container; the only file in `/disk` if absent. */
  path?: string;
}

export const ContainerDiskSourceSchema: Schema<ContainerDiskSource> = object<ContainerDiskSource>({
  image: required(string),
  imagePullPolicy: PullPolicySchema,
  imagePullSecret: string,
  path: string,
});

/** A directory of the launcher's container. */
export interface ContainerPathVolumeSource {
  path: string;
  readOnly?: boolean;
}

export const ContainerPathVolumeSourceSchema: Schema<ContainerPathVolumeSource> =
  object<ContainerPathVolumeSource>({
    path: required(
      withRules(string, {
        maxLength: 4096,
        validations: [
          { rule: "self.startsWith('/')", message: "must start with /" },
          { rule: "!self.contains('..')", message: "must have no .. in it" },
        ],
      }),
    ),
    readOnly: withRules(boolean, {
      default: true,
      validations: [
        { rule: "self == true", message: "must be true: the directory cannot be written to" },
      ],
    }),
  });

/** The claim behind a DataVolume. */
export interface DataVolumeSource {
  /** Can be detached while the guest runs. */
  hotpluggable?: boolean;
  name: string;
}

export const DataVolumeSourceSchema: Schema<DataVolumeSource> = object<DataVolumeSource>({
  hotpluggable: boolean,
  name: required(string),
});

/** Fields of the Pod as files. */
export interface DownwardAPIVolumeSource {
  fields?: DownwardAPIVolumeFile[];
  /** Label of the disk that the guest sees. */
  volumeLabel?: string;
}

export const DownwardAPIVolumeSourceSchema: Schema<DownwardAPIVolumeSource> =
  object<DownwardAPIVolumeSource>({
    fields: array(DownwardAPIVolumeFileSchema),
    volumeLabel: string,
  });

/** Metrics of the host as a small disk. */
export type DownwardMetricsVolumeSource = Empty;

export const DownwardMetricsVolumeSourceSchema: Schema<DownwardMetricsVolumeSource> =
  object<DownwardMetricsVolumeSource>({});

/** An empty disk that lives as long as the Pod. */
export interface EmptyDiskSource {
  capacity: QuantityInput;
}

export const EmptyDiskSourceSchema: Schema<EmptyDiskSource> = object<EmptyDiskSource>({
  capacity: required(QuantityInputSchema),
});

/** A claim that is only read; writes go to a layer that is lost with the Pod. */
export interface EphemeralVolumeSource {
  persistentVolumeClaim?: CorePersistentVolumeClaimVolumeSource;
}

export const EphemeralVolumeSourceSchema: Schema<EphemeralVolumeSource> =
  object<EphemeralVolumeSource>({
    persistentVolumeClaim: CorePersistentVolumeClaimVolumeSourceSchema,
  });

/** Whether the image must exist or is created. */
export type HostDiskType = OpenEnum<typeof HostDiskTypeValues>;
export const HostDiskTypeValues = ["DiskOrCreate", "Disk"] as const;
export const HostDiskTypeSchema: Schema<HostDiskType> = openEnum(HostDiskTypeValues);

/** A disk image on the node's file system. */
export interface HostDisk {
  /** Size of a created image. */
  capacity?: QuantityInput;
  /** Path of the image on the node. */
  path: string;
  /** Whether the path is the same storage on every node, so that the VMI can migrate. */
  shared?: boolean;
  type: HostDiskType;
}

export const HostDiskSchema: Schema<HostDisk> = object<HostDisk>({
  capacity: QuantityInputSchema,
  path: required(string),
  shared: boolean,
  type: required(HostDiskTypeSchema),
});

/** The claim that a memory dump is written to. */
export interface MemoryDumpVolumeSource {
  claimName: string;
  /** Can be detached while the guest runs. */
  hotpluggable?: boolean;
  readOnly?: boolean;
}

export const MemoryDumpVolumeSourceSchema: Schema<MemoryDumpVolumeSource> =
  object<MemoryDumpVolumeSource>({
    claimName: required(string),
    hotpluggable: boolean,
    readOnly: boolean,
  });

/** A claim that is written to directly. */
export interface PersistentVolumeClaimVolumeSource {
  claimName: string;
  /** Can be detached while the guest runs. */
  hotpluggable?: boolean;
  readOnly?: boolean;
}

export const PersistentVolumeClaimVolumeSourceSchema: Schema<PersistentVolumeClaimVolumeSource> =
  object<PersistentVolumeClaimVolumeSource>({
    claimName: required(string),
    hotpluggable: boolean,
    readOnly: boolean,
  });

/** A Secret as files on a disk or in a file system. */
export interface SecretVolumeSource {
  /** Whether it may be missing. */
  optional?: boolean;
  secretName?: string;
  /** Label of the disk that the guest sees. */
  volumeLabel?: string;
}

export const SecretVolumeSourceSchema: Schema<SecretVolumeSource> = object<SecretVolumeSource>({
  optional: boolean,
  secretName: string,
  volumeLabel: string,
});

/** The token of a service account. */
export interface ServiceAccountVolumeSource {
  serviceAccountName?: string;
}

export const ServiceAccountVolumeSourceSchema: Schema<ServiceAccountVolumeSource> =
  object<ServiceAccountVolumeSource>({
    serviceAccountName: string,
  });

/** Answer files for Windows setup. */
export interface SysprepSource {
  configMap?: LocalObjectReference;
  secret?: LocalObjectReference;
}

export const SysprepSourceSchema: Schema<SysprepSource> = object<SysprepSource>({
  configMap: LocalObjectReferenceSchema,
  secret: LocalObjectReferenceSchema,
});

/** Storage, under a name that disks and filesystems refer to; exactly one source is set. */
export interface Volume {
  cloudInitConfigDrive?: CloudInitConfigDriveSource;
  cloudInitNoCloud?: CloudInitNoCloudSource;
  configMap?: ConfigMapVolumeSource;
  containerDisk?: ContainerDiskSource;
  containerPath?: ContainerPathVolumeSource;
  /** The claim of a DataVolume, once it is filled. */
  dataVolume?: DataVolumeSource;
  downwardAPI?: DownwardAPIVolumeSource;
  downwardMetrics?: DownwardMetricsVolumeSource;
  emptyDisk?: EmptyDiskSource;
  ephemeral?: EphemeralVolumeSource;
  hostDisk?: HostDisk;
  memoryDump?: MemoryDumpVolumeSource;
  name: string;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  secret?: SecretVolumeSource;
  serviceAccount?: ServiceAccountVolumeSource;
  sysprep?: SysprepSource;
}

export const VolumeSchema: Schema<Volume> = object<Volume>({
  cloudInitConfigDrive: CloudInitConfigDriveSourceSchema,
  cloudInitNoCloud: CloudInitNoCloudSourceSchema,
  configMap: ConfigMapVolumeSourceSchema,
  containerDisk: ContainerDiskSourceSchema,
  containerPath: ContainerPathVolumeSourceSchema,
  dataVolume: DataVolumeSourceSchema,
  downwardAPI: DownwardAPIVolumeSourceSchema,
  downwardMetrics: DownwardMetricsVolumeSourceSchema,
  emptyDisk: EmptyDiskSourceSchema,
  ephemeral: EphemeralVolumeSourceSchema,
  hostDisk: HostDiskSchema,
  memoryDump: MemoryDumpVolumeSourceSchema,
  name: required(string),
  persistentVolumeClaim: PersistentVolumeClaimVolumeSourceSchema,
  secret: SecretVolumeSourceSchema,
  serviceAccount: ServiceAccountVolumeSourceSchema,
  sysprep: SysprepSourceSchema,
});
