import { crds } from "@virtkit/api/crd";
import type { KubeClient, KubeObject } from "@virtkit/kube";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { resourceOf } from "../install/resource-of.ts";

/** A server with a namespace and all our definitions, seen by one client. */
export async function clusterWithDefinitions(namespace: string): Promise<KubeClient> {
  const client = new InProcessApiServer().client("test");
  const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  for (const object of [space, ...crds()] as unknown as KubeObject[]) {
    await client.create(resourceOf(object), object);
  }
  return client;
}
