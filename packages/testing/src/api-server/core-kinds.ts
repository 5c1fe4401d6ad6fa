import { defineResource } from "@virtkit/kube";
import { type AnyObject, type Kind, plainKind } from "./kind.ts";
import { podKind } from "./pod-kind.ts";

const data = { statusSubresource: false, counted: false };

/** A new namespace is active; the finalizer in its spec goes once it is empty. */
function createdNamespace(object: AnyObject): AnyObject {
  const { name = "", labels } = object.metadata;
  return {
    ...object,
    metadata: { ...object.metadata, labels: { ...labels, "kubernetes.io/metadata.name": name } },
    spec: { ...object.spec, finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  };
}

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" };
const webhooks = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };

/** What an installation is made of besides workloads: nothing here acts on them. */
const installedKinds: readonly Kind[] = [
  plainKind(defineResource({ ...rbac, plural: "roles", kind: "Role" }), data),
  plainKind(defineResource({ ...rbac, plural: "rolebindings", kind: "RoleBinding" }), data),
  plainKind(
    defineResource({ ...rbac, plural: "clusterroles", kind: "ClusterRole", namespaced: false }),
    data,
  ),
  plainKind(
    defineResource({
      ...{ ...rbac, plural: "clusterrolebindings", kind: "ClusterRoleBinding" },
      namespaced: false,
    }),
    data,
  ),
  plainKind(
    defineResource({
      ...{ ...webhooks, plural: "validatingwebhookconfigurations" },
      kind: "ValidatingWebhookConfiguration",
    }),
    { statusSubresource: false },
  ),
  plainKind(
    defineResource({
      ...{ ...webhooks, plural: "mutatingwebhookconfigurations" },
      kind: "MutatingWebhookConfiguration",
    }),
    { statusSubresource: false },
  ),
  plainKind(
    defineResource({
      ...{ group: "apiregistration.k8s.io", version: "v1", plural: "apiservices" },
      ...{ kind: "APIService", namespaced: false },
    }),
    { counted: false },
  ),
  plainKind(
    defineResource({
      ...{ group: "scheduling.k8s.io", version: "v1", plural: "priorityclasses" },
      ...{ kind: "PriorityClass", namespaced: false },
    }),
    { statusSubresource: false },
  ),
];

/** The kinds that controllers of virtual machines and their tests need of Kubernetes itself. */
export const coreKinds: readonly Kind[] = [
  podKind,
  plainKind(
    defineResource({ version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false }),
    { counted: false, created: createdNamespace, fields: ["status.phase"] },
  ),
  plainKind(defineResource({ version: "v1", plural: "nodes", kind: "Node", namespaced: false }), {
    counted: false,
    fields: ["spec.unschedulable"],
  }),
  plainKind(defineResource({ version: "v1", plural: "configmaps", kind: "ConfigMap" }), data),
  plainKind(defineResource({ version: "v1", plural: "secrets", kind: "Secret" }), {
    ...data,
    fields: ["type"],
    created: (object) => ({ type: "Opaque", ...object }),
  }),
  plainKind(
    defineResource({ version: "v1", plural: "serviceaccounts", kind: "ServiceAccount" }),
    data,
  ),
  plainKind(
    defineResource({
      version: "v1",
      plural: "persistentvolumeclaims",
      kind: "PersistentVolumeClaim",
    }),
    { counted: false, created: (object) => ({ ...object, status: { phase: "Pending" } }) },
  ),
  plainKind(
    defineResource({
      version: "v1",
      plural: "persistentvolumes",
      kind: "PersistentVolume",
      namespaced: false,
    }),
    { counted: false, created: (object) => ({ ...object, status: { phase: "Pending" } }) },
  ),
  plainKind(defineResource({ version: "v1", plural: "resourcequotas", kind: "ResourceQuota" }), {
    counted: false,
  }),
  plainKind(
    defineResource({
      group: "storage.k8s.io",
      version: "v1",
      plural: "storageclasses",
      kind: "StorageClass",
      namespaced: false,
    }),
    data,
  ),
  plainKind(
    defineResource({ group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet" }),
    {},
  ),
  plainKind(
    defineResource({ group: "apps", version: "v1", plural: "deployments", kind: "Deployment" }),
    {},
  ),
  ...installedKinds,
  plainKind(defineResource({ version: "v1", plural: "events", kind: "Event" }), {
    ...data,
    fields: ["involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"],
  }),
  plainKind(defineResource({ version: "v1", plural: "services", kind: "Service" }), {
    counted: false,
  }),
  plainKind(
    defineResource({
      group: "discovery.k8s.io",
      version: "v1",
      plural: "endpointslices",
      kind: "EndpointSlice",
    }),
    { statusSubresource: false, unconditionalUpdate: false },
  ),
  plainKind(
    defineResource({
      group: "coordination.k8s.io",
      version: "v1",
      plural: "leases",
      kind: "Lease",
    }),
    { ...data, unconditionalUpdate: false },
  ),
  plainKind(
    defineResource({
      group: "apps",
      version: "v1",
      plural: "controllerrevisions",
      kind: "ControllerRevision",
    }),
    {
      ...data,
      problems: (object, previous) =>
        previous && JSON.stringify(Object(object).data) !== JSON.stringify(Object(previous).data)
          ? [{ reason: "FieldValueInvalid", field: "data", message: "field is immutable" }]
          : [],
    },
  ),
  plainKind(
    defineResource({
      group: "policy",
      version: "v1",
      plural: "poddisruptionbudgets",
      kind: "PodDisruptionBudget",
    }),
    { unconditionalUpdate: false },
  ),
];
