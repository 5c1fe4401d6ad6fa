import type { ObjectMeta } from "@virtkit/api/schema";
import type { Condition } from "@virtkit/api/status";
import type { PodSpec } from "@virtkit/launcher-pod";

/** What the kubelet reports about one container. */
export interface ContainerSeen {
  readonly name: string;
  readonly ready?: boolean;
  readonly image?: string;
  readonly imageID?: string;
  readonly containerID?: string;
  readonly state?: {
    readonly running?: object;
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: {
      readonly exitCode?: number;
      readonly reason?: string;
      readonly finishedAt?: string;
    };
  };
}

/** A Pod in the cluster. */
export interface PodObject {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<PodSpec>;
  readonly status?: {
    readonly phase?: string;
    readonly qosClass?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerSeen[];
    readonly initContainerStatuses?: readonly ContainerSeen[];
  };
}

/** The parts of a PersistentVolumeClaim that a VMI depends on. */
export interface ClaimObject {
  readonly metadata?: ObjectMeta;
  readonly spec?: {
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string | number>> };
  };
  readonly status?: {
    readonly phase?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: Readonly<Record<string, string | number>>;
  };
}

/** A DataVolume of CDI. */
export interface DataVolumeObject {
  readonly metadata?: ObjectMeta;
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

/** A StorageClass. */
export interface StorageClassObject {
  readonly metadata?: ObjectMeta;
  readonly volumeBindingMode?: string;
}

/** What CDI knows about the StorageClass of the same name. */
export interface StorageProfileObject {
  readonly metadata?: ObjectMeta;
  readonly status?: {
    readonly claimPropertySets?: readonly {
      readonly volumeMode?: string;
      readonly accessModes?: readonly string[];
    }[];
  };
}

/** CDI's configuration object. */
export interface CdiConfigObject {
  readonly metadata?: ObjectMeta;
  readonly status?: {
    readonly filesystemOverhead?: {
      readonly global?: string;
      readonly storageClass?: Readonly<Record<string, string>>;
    };
  };
}

/** Any object of which only the metadata matters. */
export interface LabelledObject {
  readonly metadata?: ObjectMeta;
}
