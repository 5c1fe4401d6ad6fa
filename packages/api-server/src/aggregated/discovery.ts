import type { Names } from "@virtkit/api/names";
import { subresourceRoutes, subresourceVersions } from "@virtkit/api/subresources/server";

/** The APIGroup: which versions there are. */
export function apiGroup({ groups }: Pick<Names, "groups">): Readonly<Record<string, unknown>> {
  const versions = subresourceVersions.map((version) => ({
    groupVersion: `${groups.subresources}/${version}`,
    version,
  }));
  return {
    kind: "APIGroup",
    apiVersion: "v1",
    name: groups.subresources,
    versions,
    preferredVersion: versions[0],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "" }],
  };
}

/** The APIResourceList of one version: every subresource that is served, with its kind and its verbs. */
export function apiResources(
  { groups }: Pick<Names, "groups">,
  version: string,
): Readonly<Record<string, unknown>> {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: `${groups.subresources}/${version}`,
    resources: subresourceRoutes.map(({ resource, subresource, method }) => ({
      name: subresource ? `${resource}/${subresource}` : resource,
      singularName: "",
      namespaced: true,
      kind: resource === "virtualmachineinstances" ? "VirtualMachineInstance" : "VirtualMachine",
      verbs: [method === "GET" ? "get" : "update"],
    })),
  };
}
