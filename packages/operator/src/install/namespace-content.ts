import { certificateNames, type Names } from "@virtkit/api/names";
import { at, objects, text } from "@virtkit/api/shape";
import { defineResource, type KubeClient, type KubeObject, type Resource } from "@virtkit/kube";
import { authoritySecret } from "../manifests/api-server-rules.ts";

const core = (plural: string, kind: string): Resource =>
  defineResource({ version: "v1", plural, kind });

/** What runs, or holds data. */
const kept = [core("pods", "Pod"), core("persistentvolumeclaims", "PersistentVolumeClaim")];

/**
 * The Pods and claims in the namespace of an installation whose VMs and components have ended, as text: they are somebody
 * else's, and would be deleted with the namespace. What a VM owns is not counted: it is deleted with its VM.
 */
export async function othersIn(
  client: KubeClient,
  { namespace, names }: { readonly namespace: string; readonly names: Names },
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const isOfVm = ({ metadata }: KubeObject): boolean =>
    objects(at(metadata, "ownerReferences")).some((owner) =>
      text(owner["apiVersion"]).startsWith(`${names.groups.core}/`),
    );
  const found = kept.map(async (resource) => {
    const { items } = await client.list(resource, { namespace, signal });
    return items
      .filter((object) => !isOfVm(object))
      .map(({ metadata }) => `${resource.kind} ${metadata.name}`);
  });
  return (await Promise.all(found)).flat();
}

/** What the components have created in their namespace; everything else of an installation is in its manifests. */
export function createdObjects(names: Names): readonly (readonly [Resource, string])[] {
  const leases = defineResource({
    ...{ group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" },
  });
  return [
    [core("secrets", "Secret"), authoritySecret],
    [core("configmaps", "ConfigMap"), certificateNames(names).bundle.name],
    [leases, "virt-controller"],
  ];
}
