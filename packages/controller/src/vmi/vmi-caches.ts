import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { NamedObject, ResourceQuota } from "@virtkit/launcher-pod";
import { stateClaimLabel } from "@virtkit/launcher-pod/traits";
import type { ObjectSource } from "../plan/object-source.ts";
import type {
  CdiConfigObject,
  ClaimObject,
  DataVolumeObject,
  LabelledObject,
  PodObject,
  StorageClassObject,
  StorageProfileObject,
} from "./cluster-objects.ts";
import { controllerOf } from "./own-pods.ts";

/**
 * The caches that a view of a VMI is built from. Those of projects that are not installed are left
 * out.
 */
export interface VmiCaches {
  readonly vmis: ObjectSource<VirtualMachineInstance>;
  readonly vms: ObjectSource<LabelledObject>;
  readonly pods: ObjectSource<PodObject, keyof typeof podIndexes>;
  readonly claims: ObjectSource<ClaimObject, keyof typeof claimIndexes>;
  readonly migrations: ObjectSource<VirtualMachineInstanceMigration, keyof typeof migrationIndexes>;
  readonly nodes: ObjectSource<LabelledObject>;
  readonly namespaces: ObjectSource<NamedObject>;
  readonly configMaps: ObjectSource<NamedObject>;
  readonly resourceQuotas: ObjectSource<ResourceQuota>;
  readonly storageClasses: ObjectSource<StorageClassObject>;
  readonly networkAttachmentDefinitions?: ObjectSource<NamedObject>;
  readonly dataVolumes?: ObjectSource<DataVolumeObject>;
  readonly storageProfiles?: ObjectSource<StorageProfileObject>;
  readonly cdis?: ObjectSource<LabelledObject>;
  readonly cdiConfigs?: ObjectSource<CdiConfigObject>;
}

/** How the cache of Pods must be indexed. */
export const podIndexes = {
  /** By the UID of the Pod's controller. */
  controller: ({ metadata }: PodObject): readonly string[] => {
    const uid = text(controllerOf(metadata)?.uid);
    return uid === "" ? [] : [uid];
  },
  /** By the name of the VMI that the Pod was made for, whether or not that VMI exists. */
  vmi: ({ metadata }: PodObject): readonly string[] => {
    const owner = controllerOf(metadata);
    if (owner?.kind !== "VirtualMachineInstance") return [];
    return [`${text(metadata?.namespace)}/${text(owner.name)}`];
  },
} as const;

/** How the cache of claims must be indexed. */
export const claimIndexes = {
  /** By the VMI whose persistent state the claim holds. */
  stateOf: ({ metadata }: ClaimObject): readonly string[] => {
    const name = metadata?.labels?.[stateClaimLabel];
    return name === undefined ? [] : [`${text(metadata?.namespace)}/${name}`];
  },
} as const;

/** How the cache of migrations must be indexed. */
export const migrationIndexes = {
  /** By the VMI that moves. */
  vmi: ({ metadata, spec }: VirtualMachineInstanceMigration): readonly string[] => [
    `${text(metadata?.namespace)}/${text(spec?.vmiName)}`,
  ],
} as const;
