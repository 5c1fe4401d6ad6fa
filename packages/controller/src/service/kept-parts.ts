import type { KubeObject } from "@virtkit/kube";

/** A node without what the kubelet says of images and volumes, which is most of it. */
export function keptNode<T extends KubeObject>(node: T): T {
  const { status } = node as T & { readonly status?: Readonly<Record<string, unknown>> };
  if (!status) return node;
  const { images: _, volumesInUse: __, volumesAttached: ___, ...kept } = status;
  return { ...node, status: kept };
}

/** That there is a ConfigMap of this name, and nothing of what is in it. */
export function keptConfigMap<T extends KubeObject>({ metadata }: T): T {
  const { annotations: _, ...kept } = metadata;
  return { metadata: kept } as T;
}
