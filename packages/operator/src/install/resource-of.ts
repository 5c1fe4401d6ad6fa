import { defineResource, type KubeObject, type Resource } from "@virtkit/kube";

/** Kinds whose objects are not in a namespace. */
const clusterWide = new Set([
  ...["Namespace", "PriorityClass", "CustomResourceDefinition", "ClusterRole"],
  ...["ClusterRoleBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  ...["APIService", "Node"],
]);

/** The resource of an object in a manifest, by its kind: those that an installation has. */
export function resourceOf({ apiVersion = "", kind = "" }: KubeObject): Resource {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const lower = kind.toLowerCase();
  const plural = lower.endsWith("s") ? `${lower}es` : `${lower}s`;
  return defineResource({ group, version, plural, kind, namespaced: !clusterWide.has(kind) });
}
