import type { KubeObject } from "../client/kube-object.ts";
import type { ObjectName } from "../client/resource.ts";

/** One string for the name of an object: `namespace/name`, or `name` without a namespace. */
export function objectKey({ namespace, name }: ObjectName): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** {@link objectKey} of an object. */
export function keyOf({ metadata }: KubeObject): string {
  const { namespace, name = "" } = metadata;
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}
