import { KubeConfig } from "@kubernetes/client-node";
import { crds } from "@virtkit/api/crd";
import { defineResource, type HttpClient, type KubeObject, type Resource } from "@virtkit/kube";
import { kubeconfigClient } from "@virtkit/kube/kubeconfig";
import { applyObject } from "@virtkit/kube/writes";
import { vi } from "vitest";

/** The kubeconfig of the API server of the tier `cluster`. */
export const kubeconfig: string = process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "";

const definitions = defineResource({
  ...{ group: "apiextensions.k8s.io", version: "v1", namespaced: false },
  ...{ plural: "customresourcedefinitions", kind: "CustomResourceDefinition" },
});

/** A client of that API server, once it serves these kinds of the platform. */
export async function clusterWithKinds(resources: readonly Resource[]): Promise<HttpClient> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const client = kubeconfigClient(config);
  const kinds = resources.map(({ kind }) => kind);
  for (const crd of crds().filter(({ spec }) => kinds.includes(spec.names.kind))) {
    const object = crd as unknown as KubeObject;
    await applyObject(client, definitions, object, { fieldManager: "test", force: true });
  }
  for (const resource of resources) {
    await vi.waitFor(() => client.list(resource), { timeout: 30_000, interval: 200 });
  }
  return client;
}
