import type { KubeObject } from "../client/kube-object.ts";

/** Whether the object has this finalizer: somebody still has to clean up before it may be removed. */
export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** The object with the finalizer; the same object if it already has it. Write it with `patchObject`. */
export function withFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  if (hasFinalizer(object, finalizer)) return object;
  const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** The object without the finalizer; the same object if it does not have it. */
export function withoutFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  if (!hasFinalizer(object, finalizer)) return object;
  const { finalizers = [], ...metadata } = object.metadata;
  const left = finalizers.filter((name) => name !== finalizer);
  return { ...object, metadata: left.length > 0 ? { ...metadata, finalizers: left } : metadata };
}

/** Whether a deletion was requested. */
export function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
