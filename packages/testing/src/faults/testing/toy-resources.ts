import { defineResource, type KubeObject, type Resource } from "@virtkit/kube";

export const configMaps: Resource<KubeObject> = defineResource({
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
});

export const pods: Resource<KubeObject> = defineResource({
  version: "v1",
  plural: "pods",
  kind: "Pod",
});
