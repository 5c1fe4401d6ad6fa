import type { KubeClient, RequestOptions } from "../client/kube-client.ts";
import { isNotFound } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import type { ObjectName, Resource } from "../client/resource.ts";
import type { Lookup } from "./lookup.ts";

/**
 * Asks the server directly; use it before you destroy something or do what cannot be undone. `absent` means
 * that the server says that this object does not exist. Any other failure, such as a broken connection or a
 * resource that the server does not know, is thrown as a `KubeError`.
 */
export async function liveRead<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: ObjectName,
  options: RequestOptions = {},
): Promise<Exclude<Lookup<T>, { readonly state: "unknown" }>> {
  try {
    return { state: "present", object: await client.get(resource, object, options) };
  } catch (error) {
    if (isNotFound(error)) return { state: "absent" };
    throw error;
  }
}
