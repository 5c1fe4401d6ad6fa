import { at } from "@virtkit/api/shape";
import {
  defineResource,
  type KubeClient,
  type KubeObject,
  type RequestOptions,
} from "@virtkit/kube";
import { cdiNames } from "../vmi/cdi-names.ts";
import type { CloneRequest } from "./vm-view.ts";

const reviews = defineResource({
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
});

/**
 * What permits an account to clone: CDI's own permission, or permission to run a Pod beside the
 * source, which could read it.
 */
const rights = [
  { group: cdiNames.group, resource: "datavolumes", subresource: "source" },
  { group: "", resource: "pods" },
] as const;

/**
 * Asks the API server whether a VM's service account may read the source of a clone. Within
 * its own namespace it may. Anything but an explicit yes counts as no. Throws if there is no answer.
 */
export async function mayClone(
  client: Pick<KubeClient, "create">,
  { source, serviceAccount }: CloneRequest,
  { signal }: RequestOptions = {},
): Promise<boolean> {
  if (source.namespace === serviceAccount.namespace) return true;
  const accounts = "system:serviceaccounts";
  const groups = [accounts, `${accounts}:${serviceAccount.namespace}`, "system:authenticated"];
  const user = `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`;
  for (const right of rights) {
    const name = "subresource" in right ? { name: source.name } : {};
    const resourceAttributes = { ...right, verb: "create", namespace: source.namespace, ...name };
    const review = { metadata: {}, spec: { user, groups, resourceAttributes } };
    const answer = await client.create(reviews, review as KubeObject, { signal });
    if (at(answer, "status", "allowed") === true && at(answer, "status", "denied") !== true) {
      return true;
    }
  }
  return false;
}
