import type { Names } from "@virtkit/api/names";
import { defineResource, type Resource } from "@virtkit/kube";
import { cdiNames } from "../vmi/cdi-names.ts";

/** Namespaces. */
export const namespaceResource: Resource = defineResource({
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
});

/** ConfigMaps. */
export const configMapResource: Resource = defineResource({
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
});

/** Resource quotas. */
export const quotaResource: Resource = defineResource({
  version: "v1",
  plural: "resourcequotas",
  kind: "ResourceQuota",
});

/** Deployments. */
export const deploymentResource: Resource = defineResource({
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
});

/** DaemonSets. */
export const daemonSetResource: Resource = defineResource({
  group: "apps",
  version: "v1",
  plural: "daemonsets",
  kind: "DaemonSet",
});

/** Storage classes. */
export const storageClassResource: Resource = defineResource({
  group: "storage.k8s.io",
  version: "v1",
  plural: "storageclasses",
  kind: "StorageClass",
  namespaced: false,
});

/** Multus's network attachment definitions. */
export const networkResource: Resource = defineResource({
  group: "k8s.cni.cncf.io",
  version: "v1",
  plural: "network-attachment-definitions",
  kind: "NetworkAttachmentDefinition",
});

const cdi = { group: cdiNames.group, version: "v1beta1" } as const;

/** CDI's DataSources. */
export const dataSourceResource: Resource = defineResource({
  ...cdi,
  plural: "datasources",
  kind: "DataSource",
});

/** What CDI knows about storage classes. */
export const storageProfileResource: Resource = defineResource({
  ...cdi,
  plural: "storageprofiles",
  kind: "StorageProfile",
  namespaced: false,
});

/** Installations of CDI. */
export const cdiResource: Resource = defineResource({
  ...cdi,
  plural: "cdis",
  kind: "CDI",
  namespaced: false,
});

/** CDI's configuration. */
export const cdiConfigResource: Resource = defineResource({
  ...cdi,
  plural: "cdiconfigs",
  kind: "CDIConfig",
  namespaced: false,
});

/** Instance types and preferences of a platform. */
export interface TypeResources {
  readonly instancetypes: Resource;
  readonly clusterInstancetypes: Resource;
  readonly preferences: Resource;
  readonly clusterPreferences: Resource;
}

/** {@link TypeResources} by the platform's names. */
export function typeResources({ groups }: Names): TypeResources {
  const of = (plural: string, kind: string, namespaced: boolean): Resource =>
    defineResource({ group: groups.instancetype, version: "v1beta1", plural, kind, namespaced });
  return {
    instancetypes: of("virtualmachineinstancetypes", "VirtualMachineInstancetype", true),
    clusterInstancetypes: of(
      "virtualmachineclusterinstancetypes",
      "VirtualMachineClusterInstancetype",
      false,
    ),
    preferences: of("virtualmachinepreferences", "VirtualMachinePreference", true),
    clusterPreferences: of(
      "virtualmachineclusterpreferences",
      "VirtualMachineClusterPreference",
      false,
    ),
  };
}

/** Migration policies of a platform. */
export function policyResource({ groups }: Names): Resource {
  return defineResource({
    group: groups.migrations,
    version: "v1alpha1",
    plural: "migrationpolicies",
    kind: "MigrationPolicy",
    namespaced: false,
  });
}
