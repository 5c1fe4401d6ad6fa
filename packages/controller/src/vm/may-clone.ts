import { at } from "@virtkit/api/shape";
import type { CloneSource } from "@virtkit/api/status";
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

interface Right {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
}

const cloneSource: Right = {
  group: cdiNames.group,
  resource: "datavolumes",
  subresource: "source",
};
const pods: Right = { group: "", resource: "pods" };
/** So CDI spells claims in this question. Only roles with `pvcs` or `*` grant it. */
const pvcs: Right = { group: "", resource: "pvcs" };

/**
 * What permits an account to clone: any of these sets of rights, all to create. Besides CDI's own permission that is
 * permission to run a Pod beside the claim, which could read it. A snapshot must first become a claim.
 */
const sufficient: Readonly<Record<CloneSource["kind"], readonly (readonly Right[])[]>> = {
  PersistentVolumeClaim: [[cloneSource], [pods]],
  VolumeSnapshot: [[cloneSource], [pods, pvcs]],
};

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
  const has = async (right: Right): Promise<boolean> => {
    const name = right.subresource === undefined ? {} : { name: source.name };
    const resourceAttributes = { ...right, verb: "create", namespace: source.namespace, ...name };
    const review = { metadata: {}, spec: { user, groups, resourceAttributes } };
    const answer = await client.create(reviews, review as KubeObject, { signal });
    return at(answer, "status", "allowed") === true && at(answer, "status", "denied") !== true;
  };
  for (const rights of sufficient[source.kind]) if (await hasAll(rights, has)) return true;
  return false;
}

async function hasAll(
  rights: readonly Right[],
  has: (right: Right) => Promise<boolean>,
): Promise<boolean> {
  for (const right of rights) if (!(await has(right))) return false;
  return true;
}
