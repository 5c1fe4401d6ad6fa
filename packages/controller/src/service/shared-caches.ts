import type { Names } from "@virtkit/api/names";
import type {
  KubeVirt,
  MigrationPolicy,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceReplicaSet,
} from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { DataSource } from "@virtkit/api/status/vm";
import type { KubeObject, Resource } from "@virtkit/kube";
import type { Cache } from "@virtkit/kube/cache";
import type { NamedObject, ResourceQuota } from "@virtkit/launcher-pod";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import { controllerOf } from "../plan/ownership.ts";
import { claimResource, nodeResource, podResource } from "../plan/resources.ts";
import {
  dataVolumeResource,
  revisionResource,
  type VmResources,
  vmResources,
} from "../plan/vm-resources.ts";
import type { VirtualMachinePool } from "../pool/pool-view.ts";
import { usedClaims } from "../vm/used-names.ts";
import type { ControllerRevision, TypeObject } from "../vm/vm-view.ts";
import type {
  CdiConfigObject,
  ClaimObject,
  DataVolumeObject,
  LabelledObject,
  PodObject,
  StorageClassObject,
  StorageProfileObject,
} from "../vmi/cluster-objects.ts";
import { claimIndexes, migrationIndexes, podIndexes } from "../vmi/vmi-caches.ts";
import type { CacheFeeds, FedCache } from "./cache-feeds.ts";
import { keptConfigMap, keptNode } from "./kept-parts.ts";
import {
  cdiConfigResource,
  cdiResource,
  configMapResource,
  dataSourceResource,
  namespaceResource,
  networkResource,
  policyResource,
  quotaResource,
  storageClassResource,
  storageProfileResource,
  typeResources,
} from "./shared-resources.ts";

type Stored<T> = T & KubeObject;
type VmiIndex = "controller" | "node" | "claim" | "tsc";
type PodIndex = "controller" | "vmi" | "node";

/** Optional projects that a cluster may have. */
export interface InstalledProjects {
  /** CDI: DataVolumes. */
  readonly cdi?: boolean;
  /** Multus: network attachment definitions. */
  readonly multus?: boolean;
}

/**
 * The objects that controllers read, each kind once. A cache is created, and its watch begins, on
 * first use: a process without pools does not watch them.
 */
export class SharedCaches {
  readonly #feeds: CacheFeeds;
  readonly #names: Names;
  readonly #resources: VmResources;
  readonly #installed: InstalledProjects;

  constructor(feeds: CacheFeeds, names: Names, installed: InstalledProjects = {}) {
    this.#feeds = feeds;
    this.#names = names;
    this.#resources = vmResources(names);
    this.#installed = installed;
  }

  get vmis(): Cache<Stored<VirtualMachineInstance>, VmiIndex> {
    return this.#of<Stored<VirtualMachineInstance>, VmiIndex>(this.#resources.vmis, {
      indexes: vmiIndexes,
    });
  }

  get vms(): Cache<Stored<VirtualMachine>, "controller" | "claim"> {
    return this.#of<Stored<VirtualMachine>, "controller" | "claim">(this.#resources.vms, {
      indexes: vmIndexes,
    });
  }

  /** Launcher Pods and the Pods that attach volumes to them; other Pods are not watched. */
  get pods(): Cache<Stored<PodObject>, PodIndex> {
    const labelSelector = `${this.#names.labels.app} in (virt-launcher,hotplug-disk)`;
    return this.#of<Stored<PodObject>, PodIndex>(podResource, {
      indexes: allPodIndexes,
      labelSelector,
    });
  }

  get migrations(): Cache<Stored<VirtualMachineInstanceMigration>, keyof typeof migrationIndexes> {
    return this.#of<Stored<VirtualMachineInstanceMigration>, keyof typeof migrationIndexes>(
      this.#resources.migrations,
      { indexes: migrationIndexes },
    );
  }

  get migrationPolicies(): Cache<Stored<MigrationPolicy>> {
    return this.#of<Stored<MigrationPolicy>>(policyResource(this.#names));
  }

  get replicaSets(): Cache<Stored<VirtualMachineInstanceReplicaSet>> {
    return this.#of<Stored<VirtualMachineInstanceReplicaSet>>(this.#resources.replicaSets);
  }

  get pools(): Cache<Stored<VirtualMachinePool>> {
    return this.#of<Stored<VirtualMachinePool>>(this.#resources.pools);
  }

  get kubevirts(): Cache<Stored<KubeVirt>> {
    return this.#of<Stored<KubeVirt>>(this.#resources.kubevirts);
  }

  /** Stored copies of specs, by their controller. */
  get revisions(): Cache<Stored<ControllerRevision>, "controller"> {
    return this.#of<Stored<ControllerRevision>, "controller">(revisionResource, {
      indexes: byController,
    });
  }

  get instancetypes(): Cache<TypeObject> {
    return this.#of<TypeObject>(typeResources(this.#names).instancetypes);
  }

  get clusterInstancetypes(): Cache<TypeObject> {
    return this.#of<TypeObject>(typeResources(this.#names).clusterInstancetypes);
  }

  get preferences(): Cache<TypeObject> {
    return this.#of<TypeObject>(typeResources(this.#names).preferences);
  }

  get clusterPreferences(): Cache<TypeObject> {
    return this.#of<TypeObject>(typeResources(this.#names).clusterPreferences);
  }

  get nodes(): Cache<Stored<LabelledObject>> {
    return this.#of<Stored<LabelledObject>>(nodeResource, { keep: keptNode });
  }

  get claims(): Cache<Stored<ClaimObject>, keyof typeof claimIndexes> {
    return this.#of<Stored<ClaimObject>, keyof typeof claimIndexes>(claimResource, {
      indexes: claimIndexes,
    });
  }

  get namespaces(): Cache<Stored<NamedObject>> {
    return this.#of<Stored<NamedObject>>(namespaceResource);
  }

  /** Only their existence: their data is nobody's business. */
  get configMaps(): Cache<Stored<NamedObject>> {
    return this.#of<Stored<NamedObject>>(configMapResource, { keep: keptConfigMap });
  }

  get resourceQuotas(): Cache<Stored<ResourceQuota>> {
    return this.#of<Stored<ResourceQuota>>(quotaResource);
  }

  get storageClasses(): Cache<Stored<StorageClassObject>> {
    return this.#of<Stored<StorageClassObject>>(storageClassResource);
  }

  get networkAttachmentDefinitions(): Cache<Stored<NamedObject>> | undefined {
    return this.#installed.multus ? this.#of<Stored<NamedObject>>(networkResource) : undefined;
  }

  get dataVolumes(): Cache<Stored<DataVolumeObject>, "controller"> | undefined {
    return this.#installed.cdi
      ? this.#of<Stored<DataVolumeObject>, "controller">(dataVolumeResource, {
          indexes: byController,
        })
      : undefined;
  }

  get dataSources(): Cache<Stored<DataSource>> | undefined {
    return this.#installed.cdi ? this.#of<Stored<DataSource>>(dataSourceResource) : undefined;
  }

  get storageProfiles(): Cache<Stored<StorageProfileObject>> | undefined {
    return this.#installed.cdi
      ? this.#of<Stored<StorageProfileObject>>(storageProfileResource)
      : undefined;
  }

  get cdis(): Cache<Stored<LabelledObject>> | undefined {
    return this.#installed.cdi ? this.#of<Stored<LabelledObject>>(cdiResource) : undefined;
  }

  get cdiConfigs(): Cache<Stored<CdiConfigObject>> | undefined {
    return this.#installed.cdi ? this.#of<Stored<CdiConfigObject>>(cdiConfigResource) : undefined;
  }

  #of<T extends KubeObject, Index extends string = never>(
    resource: Resource,
    options: FedCache<T, Index> = {},
  ): Cache<T, Index> {
    return this.#feeds.cache<T, Index>(resource as Resource<T>, options);
  }
}

/** By the UID of the object's controller. */
function controllerUid(object: unknown): readonly string[] {
  const uid = text(controllerOf(object)?.uid);
  return uid === "" ? [] : [uid];
}

const byController = { controller: controllerUid } as const;

/** How the shared cache of VMs is indexed. */
const vmIndexes = {
  ...byController,
  /** By the claims and DataVolumes that it uses. */
  claim: (vm: VirtualMachine): readonly string[] =>
    usedClaims(vm).map((name) => `${text(vm.metadata?.namespace)}/${name}`),
} as const;

/** How the shared cache of VMIs is indexed. */
const vmiIndexes: Readonly<
  Record<VmiIndex, (vmi: Stored<VirtualMachineInstance>) => readonly string[]>
> = {
  controller: controllerUid,
  /** By its node. */
  node: ({ status }: VirtualMachineInstance): readonly string[] => {
    const node = text(status?.nodeName);
    return node === "" ? [] : [node];
  },
  /** Those whose clock follows the TSC. */
  tsc: ({ status }: VirtualMachineInstance): readonly string[] =>
    status?.topologyHints?.tscFrequency ? ["hinted"] : [],
  /** By the claims, and so the DataVolumes, that its volumes use. */
  claim: ({ metadata, spec }: VirtualMachineInstance): readonly string[] =>
    [
      ...(spec?.volumes ?? []).map(claimNameOf),
      ...(spec?.utilityVolumes ?? []).map(({ claimName }) => claimName),
    ]
      .filter((name) => name !== "")
      .map((name) => `${text(metadata?.namespace)}/${name}`),
};

const allPodIndexes: Readonly<Record<PodIndex, (pod: Stored<PodObject>) => readonly string[]>> = {
  controller: podIndexes.controller,
  vmi: podIndexes.vmi,
  /** By its node. */
  node: ({ spec }: PodObject): readonly string[] => {
    const node = text(spec?.nodeName);
    return node === "" ? [] : [node];
  },
};
