import type { KubeClient } from "../client/kube-client.ts";
import type { KubeObject } from "../client/kube-object.ts";
import { defineResource, type Resource } from "../client/resource.ts";

/** Something to watch that no controller touches. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
export const configMaps: Resource<ConfigMap> = defineResource<ConfigMap>({
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
});
export const namespaces: Resource = defineResource({
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
});

export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  await client.create(namespaces, { metadata: { name } });
}

export function configMap(namespace: string, name: string, value: string): ConfigMap {
  return { metadata: { namespace, name }, data: { value } };
}

/** Does something for each number below `count`, a few at a time. */
export async function forEach(
  count: number,
  action: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await action(next++);
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

/** Names and versions of all objects, to compare them with a cache. */
export function versionsOf(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    .sort((one, other) => (one < other ? -1 : 1));
}
