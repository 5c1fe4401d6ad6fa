import type { KubeObject } from "@virtkit/kube";

/** A node without the kubelet's reports about images and volumes, which are most of it. */
export function keptNode<T extends KubeObject>(node: T): T {
  const { status } = node as T & { readonly status?: Readonly<Record<string, unknown>> };
  if (!status) return node;
  const { images: _, volumesInUse: __, volumesAttached: ___, ...kept } = status;
  return { ...node, status: kept };
}

/** The existence of a ConfigMap of this name, without its data. */
export function keptConfigMap<T extends KubeObject>({ metadata }: T): T {
  const { annotations: _, ...kept } = metadata;
  return { metadata: kept } as T;
}
