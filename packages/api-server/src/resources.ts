import { cdiGroup, type Names } from "@virtkit/api/names";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { defineResource, type KubeObject, type Resource } from "@virtkit/kube";

type Stored<T> = T & KubeObject;

/** Every kind of object that the server reads or writes. */
export interface ServerResources {
  readonly virtualmachines: Resource<Stored<VirtualMachine>>;
  readonly virtualmachineinstances: Resource<Stored<VirtualMachineInstance>>;
  readonly virtualmachineinstancemigrations: Resource;
  readonly instancetypes: Resource;
  readonly clusterInstancetypes: Resource;
  readonly preferences: Resource;
  readonly clusterPreferences: Resource;
}

/** They are used for every review, and follow from the names. */
const known = new WeakMap<Names["groups"], ServerResources>();

/** The platform's own resources, by its names. */
export function serverResources({ groups }: Pick<Names, "groups">): ServerResources {
  const found = known.get(groups);
  if (found) return found;
  const made = defineResources(groups);
  known.set(groups, made);
  return made;
}

function defineResources(groups: Names["groups"]): ServerResources {
  const core = { group: groups.core, version: "v1" };
  const types = { group: groups.instancetype, version: "v1beta1" };
  return {
    virtualmachines: defineResource({ ...core, plural: "virtualmachines", kind: "VirtualMachine" }),
    virtualmachineinstances: defineResource({
      ...core,
      plural: "virtualmachineinstances",
      kind: "VirtualMachineInstance",
    }),
    virtualmachineinstancemigrations: defineResource({
      ...core,
      plural: "virtualmachineinstancemigrations",
      kind: "VirtualMachineInstanceMigration",
    }),
    instancetypes: defineResource({
      ...types,
      plural: "virtualmachineinstancetypes",
      kind: "VirtualMachineInstancetype",
    }),
    clusterInstancetypes: defineResource({
      ...types,
      plural: "virtualmachineclusterinstancetypes",
      kind: "VirtualMachineClusterInstancetype",
      namespaced: false,
    }),
    preferences: defineResource({
      ...types,
      plural: "virtualmachinepreferences",
      kind: "VirtualMachinePreference",
    }),
    clusterPreferences: defineResource({
      ...types,
      plural: "virtualmachineclusterpreferences",
      kind: "VirtualMachineClusterPreference",
      namespaced: false,
    }),
  };
}

/** Those of Kubernetes, CDI and snapshots. */
export const otherResources: Readonly<
  Record<
    | "pods"
    | "nodes"
    | "claims"
    | "configMaps"
    | "secrets"
    | "revisions"
    | "cdiConfigs"
    | "dataVolumes"
    | "dataSources"
    | "volumeSnapshots"
    | "accessReviews"
    | "apiServices"
    | "signingRequests"
    | "mutatingWebhooks"
    | "validatingWebhooks",
    Resource
  >
> = {
  pods: defineResource({ version: "v1", plural: "pods", kind: "Pod" }),
  nodes: defineResource({ version: "v1", plural: "nodes", kind: "Node", namespaced: false }),
  claims: defineResource({
    version: "v1",
    plural: "persistentvolumeclaims",
    kind: "PersistentVolumeClaim",
  }),
  configMaps: defineResource({ version: "v1", plural: "configmaps", kind: "ConfigMap" }),
  secrets: defineResource({ version: "v1", plural: "secrets", kind: "Secret" }),
  revisions: defineResource({
    group: "apps",
    version: "v1",
    plural: "controllerrevisions",
    kind: "ControllerRevision",
  }),
  cdiConfigs: defineResource({
    group: cdiGroup,
    version: "v1beta1",
    plural: "cdiconfigs",
    kind: "CDIConfig",
    namespaced: false,
  }),
  dataVolumes: defineResource({
    group: cdiGroup,
    version: "v1beta1",
    plural: "datavolumes",
    kind: "DataVolume",
  }),
  dataSources: defineResource({
    group: cdiGroup,
    version: "v1beta1",
    plural: "datasources",
    kind: "DataSource",
  }),
  volumeSnapshots: defineResource({
    group: "snapshot.storage.k8s.io",
    version: "v1",
    plural: "volumesnapshots",
    kind: "VolumeSnapshot",
  }),
  accessReviews: defineResource({
    group: "authorization.k8s.io",
    version: "v1",
    plural: "subjectaccessreviews",
    kind: "SubjectAccessReview",
    namespaced: false,
  }),
  apiServices: defineResource({
    group: "apiregistration.k8s.io",
    version: "v1",
    plural: "apiservices",
    kind: "APIService",
    namespaced: false,
  }),
  signingRequests: defineResource({
    group: "certificates.k8s.io",
    version: "v1",
    plural: "certificatesigningrequests",
    kind: "CertificateSigningRequest",
    namespaced: false,
  }),
  mutatingWebhooks: defineResource({
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "mutatingwebhookconfigurations",
    kind: "MutatingWebhookConfiguration",
    namespaced: false,
  }),
  validatingWebhooks: defineResource({
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "validatingwebhookconfigurations",
    kind: "ValidatingWebhookConfiguration",
    namespaced: false,
  }),
};
