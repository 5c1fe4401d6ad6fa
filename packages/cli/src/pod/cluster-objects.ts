import type { ClusterObjects } from "@virtkit/launcher-pod";
import type { ManifestDocument } from "@virtkit/node-agent/manifests";

const lists: Readonly<Record<string, keyof ClusterObjects>> = {
  PersistentVolumeClaim: "persistentVolumeClaims",
  NetworkAttachmentDefinition: "networkAttachmentDefinitions",
  ConfigMap: "configMaps",
  Namespace: "namespaces",
  ResourceQuota: "resourceQuotas",
};

/** Objects in manifests that a Pod may depend on; those that need a namespace get `default`. */
export function clusterObjects(documents: readonly ManifestDocument[]): ClusterObjects {
  const found: Record<keyof ClusterObjects, object[]> = {
    persistentVolumeClaims: [],
    networkAttachmentDefinitions: [],
    configMaps: [],
    namespaces: [],
    resourceQuotas: [],
  };
  for (const { value } of documents) {
    const { kind, metadata } = Object(value) as { kind?: unknown; metadata?: object };
    const list = Object.hasOwn(lists, String(kind)) ? lists[String(kind)] : undefined;
    if (!list || typeof metadata !== "object" || metadata === null) continue;
    found[list].push({ ...(value as object), metadata: { namespace: "default", ...metadata } });
  }
  return found as ClusterObjects;
}
