import type { KubeObject } from "./kube-object.ts";

/** A kind of object, and its path on the API server. `T` is the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** As in the URL: `pods`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set; ties the descriptor to the type of its objects. */
  readonly objectType?: T;
}

/** The name of one object; `namespace` for namespaced resources only. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

/** Describes a resource: `defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" })`. */
export function defineResource<T extends KubeObject = KubeObject>(resource: {
  readonly group?: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** By default true. */
  readonly namespaced?: boolean;
}): Resource<T> {
  return { group: "", namespaced: true, ...resource };
}

/** The `apiVersion` of a resource's objects. */
export function apiVersionOf({ group, version }: Resource): string {
  return group === "" ? version : `${group}/${version}`;
}
