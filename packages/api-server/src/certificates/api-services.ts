import type { Names } from "@virtkit/api/names";
import { subresourceVersions } from "@virtkit/api/subresources/server";
import type { KubeObject } from "@virtkit/kube";

/** The objects that make an API server pass requests for our group to a Service. */
export function apiServices(
  service: { readonly namespace: string; readonly name: string; readonly port?: number },
  caBundle: string,
  { groups }: Pick<Names, "groups">,
): readonly KubeObject[] {
  return subresourceVersions.map(
    (version) =>
      ({
        apiVersion: "apiregistration.k8s.io/v1",
        kind: "APIService",
        metadata: { name: `${version}.${groups.subresources}` },
        spec: {
          group: groups.subresources,
          version,
          groupPriorityMinimum: 1000,
          versionPriority: 15,
          service: { port: 443, ...service },
          caBundle: Buffer.from(caBundle).toString("base64"),
        },
      }) as KubeObject,
  );
}
