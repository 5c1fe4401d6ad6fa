import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { ObjectName } from "@virtkit/kube";
import type { ClusterLookup, NamedObject, PersistentVolumeClaim } from "@virtkit/launcher-pod";
import { claimNameOf, stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { known, knownObject, type ObjectSource, whenKnown } from "../plan/object-source.ts";
import type { ClaimObject, DataVolumeObject, PodObject } from "./cluster-objects.ts";
import { controllerOf } from "./own-pods.ts";
import { vmMemory } from "./vm-memory.ts";
import type { VmiCaches } from "./vmi-caches.ts";
import type { VmiView } from "./vmi-view.ts";

/** What the caches do not know. */
export interface CachedViewOptions {
  readonly names: Names;
  /** Whether this controller has written something that the caches do not show yet. */
  readonly isBehind: boolean;
}

/** What the caches know about a VMI; undefined until all of them have synced. */
export function cachedVmiView(
  caches: VmiCaches,
  name: ObjectName,
  { names, isBehind }: CachedViewOptions,
): VmiView | undefined {
  return whenKnown(() => {
    demandSynced(caches);
    const vmi = knownObject(caches.vmis.get(name));
    const key = `${text(name.namespace)}/${name.name}`;
    const launchers = known(caches.pods.byIndex("vmi", key));
    const attachments = launchers.flatMap(({ metadata }) =>
      known(caches.pods.byIndex("controller", text(metadata?.uid))),
    );
    const claims = vmi ? claimsOf(caches, vmi, key) : [];
    const owner = controllerOf(vmi?.metadata);
    const isOfVm = owner?.kind === "VirtualMachine";
    const { namespace = "" } = name;
    const sameName = knownObject(caches.vms.get({ namespace, name: name.name }));
    const vm = isOfVm
      ? knownObject(caches.vms.get({ namespace, name: text(owner.name) }))
      : undefined;
    return {
      vmi,
      pods: [...launchers, ...attachments],
      claims,
      dataVolumes: vmi ? dataVolumesOf(caches, vmi, claims) : [],
      migrations: known(caches.migrations.byIndex("vmi", key)),
      vm,
      storageClasses: known(caches.storageClasses.list()),
      storageProfiles: all(caches.storageProfiles),
      cdi: {
        instances: all(caches.cdis).length,
        config: caches.cdiConfigs && knownObject(caches.cdiConfigs.get({ name: "config" })),
      },
      isWithoutMultus: !caches.networkAttachmentDefinitions,
      nodes: () => known(caches.nodes.list()),
      vmis: () => known(caches.vmis.list()),
      lookup: lookupFrom(caches),
      isBehind,
      grant: {
        ...vmMemory(vmi, vm ?? sameName, { names, pods: launchers }),
        isLive: false,
        pods: launchers,
        nodes: nodesOf(caches, launchers),
      },
    };
  });
}

/**
 * What the plan asks for later must be known now. No object has this name, so this only finds out
 * whether the cache has synced.
 */
function demandSynced(caches: VmiCaches): void {
  const { nodes, namespaces, configMaps, resourceQuotas, networkAttachmentDefinitions } = caches;
  const later = [nodes, namespaces, configMaps, resourceQuotas, networkAttachmentDefinitions];
  for (const source of later) if (source) knownObject<unknown>(source.get({ name: "" }));
}

/** The nodes of Pods: what a cache knows about them shows whether a live read is worthwhile. */
function nodesOf({ nodes }: VmiCaches, pods: readonly PodObject[]): readonly unknown[] {
  const names = new Set(pods.map(({ spec }) => text(spec?.nodeName)));
  names.delete("");
  return [...names].flatMap((name) => knownObject(nodes.get({ name })) ?? []);
}

function all<T>(source: ObjectSource<T> | undefined): readonly T[] {
  return source ? known(source.list()) : [];
}

/**
 * Those that its volumes use, and the one with its persistent state, by label or by its old name.
 */
function claimsOf(
  { claims }: VmiCaches,
  { metadata, spec }: VirtualMachineInstance,
  key: string,
): readonly ClaimObject[] {
  const namespace = text(metadata?.namespace);
  const names = new Set([
    ...(spec.volumes ?? []).map(claimNameOf),
    ...(spec.utilityVolumes ?? []).map(({ claimName }) => claimName),
    `${stateClaimLabel}-${text(metadata?.name)}`,
  ]);
  names.delete("");
  const named = [...names].flatMap((name) => knownObject(claims.get({ namespace, name })) ?? []);
  return [...new Set([...named, ...known(claims.byIndex("stateOf", key))])];
}

/** Those that its volumes use, and those that fill its claims. */
function dataVolumesOf(
  { dataVolumes }: VmiCaches,
  { metadata, spec }: VirtualMachineInstance,
  claims: readonly ClaimObject[],
): readonly DataVolumeObject[] {
  if (!dataVolumes) return [];
  const names = new Set((spec.volumes ?? []).map(({ dataVolume }) => text(dataVolume?.name)));
  for (const claim of claims) {
    const owner = controllerOf(claim.metadata);
    if (owner?.kind === "DataVolume") names.add(text(owner.name));
  }
  names.delete("");
  const namespace = text(metadata?.namespace);
  return [...names].flatMap((name) => knownObject(dataVolumes.get({ namespace, name })) ?? []);
}

/** What a launcher Pod depends on. */
function lookupFrom(caches: VmiCaches): ClusterLookup {
  const { claims, networkAttachmentDefinitions: networks } = caches;
  const within = (namespace: string) => known(claims.list({ namespace }));
  return {
    persistentVolumeClaim: (namespace, name) =>
      knownObject(claims.get({ namespace, name })) as PersistentVolumeClaim | undefined,
    persistentVolumeClaims: (namespace) => within(namespace) as readonly PersistentVolumeClaim[],
    networkAttachmentDefinition: (namespace, name): NamedObject | undefined =>
      networks && knownObject(networks.get({ namespace, name })),
    configMap: (namespace, name) => knownObject(caches.configMaps.get({ namespace, name })),
    namespace: (name) => knownObject(caches.namespaces.get({ name })),
    resourceQuotas: (namespace) => known(caches.resourceQuotas.list({ namespace })),
  };
}
