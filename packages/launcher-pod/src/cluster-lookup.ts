import type { ObjectMeta } from "@virtkit/api/schema";

/** The parts of a claim that a launcher Pod depends on. */
export interface PersistentVolumeClaim {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly volumeMode?: string;
    readonly accessModes?: readonly string[];
  };
}

/** An object whose metadata alone matters. */
export interface NamedObject {
  readonly metadata: ObjectMeta;
}

/** A quota; only the names of its limits matter. */
export interface ResourceQuota {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly hard?: Readonly<Record<string, unknown>> };
}

/**
 * The objects of the cluster that rendering needs. Lookups are synchronous: a controller answers from its caches, a
 * test from literals. `undefined` means that the object does not exist.
 */
export interface ClusterLookup {
  persistentVolumeClaim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  persistentVolumeClaims(namespace: string): Iterable<PersistentVolumeClaim>;
  networkAttachmentDefinition(namespace: string, name: string): NamedObject | undefined;
  configMap(namespace: string, name: string): NamedObject | undefined;
  namespace(name: string): NamedObject | undefined;
  resourceQuotas(namespace: string): Iterable<ResourceQuota>;
}

/** The objects that {@link lookupIn} searches. */
export interface ClusterObjects {
  readonly persistentVolumeClaims?: readonly PersistentVolumeClaim[];
  readonly networkAttachmentDefinitions?: readonly NamedObject[];
  readonly configMaps?: readonly NamedObject[];
  readonly namespaces?: readonly NamedObject[];
  readonly resourceQuotas?: readonly ResourceQuota[];
}

/**
 * A lookup in plain lists, which are searched from the start each time. For tests, tools and small clusters.
 *
 * @example
 * const lookup = lookupIn({ namespaces: [{ metadata: { name: "default" } }] });
 */
export function lookupIn(objects: ClusterObjects): ClusterLookup {
  const claims = objects.persistentVolumeClaims ?? [];
  const quotas = objects.resourceQuotas ?? [];
  return {
    persistentVolumeClaim: (namespace, name) => find(claims, namespace, name),
    persistentVolumeClaims: (namespace) => within(claims, namespace),
    networkAttachmentDefinition: (namespace, name) =>
      find(objects.networkAttachmentDefinitions ?? [], namespace, name),
    configMap: (namespace, name) => find(objects.configMaps ?? [], namespace, name),
    namespace: (name) => objects.namespaces?.find(({ metadata }) => metadata.name === name),
    resourceQuotas: (namespace) => within(quotas, namespace),
  };
}

function find<T extends NamedObject>(
  objects: readonly T[],
  namespace: string,
  name: string,
): T | undefined {
  return objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}

function within<T extends NamedObject>(objects: readonly T[], namespace: string): readonly T[] {
  return objects.filter(({ metadata }) => metadata.namespace === namespace);
}
