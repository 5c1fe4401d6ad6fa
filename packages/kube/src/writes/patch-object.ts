import type { KubeClient, WriteOptions } from "../client/kube-client.ts";
import { isKubeError, KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import type { Resource } from "../client/resource.ts";
import { jsonPatchBetween, type PatchBetweenOptions } from "./json-patch-between.ts";

/** Options of {@link patchObject}. */
export interface PatchObjectOptions extends WriteOptions, PatchBetweenOptions {
  /** Whether any change of the object by others is a conflict, not only one of the same values. By default false. */
  readonly isExclusive?: boolean | undefined;
  /**
   * Paths, such as `/status/phase`, of values that are not written but must still be as they were read. A value that
   * the object did not have is not tested. By default none.
   */
  readonly unchanged?: readonly string[] | undefined;
}

/**
 * Writes the differences between an object as it was read and as it should be; see `jsonPatchBetween`. If
 * there are none, nothing is sent, and `before` is returned. Throws a `KubeError` for which `isConflict` is
 * true if others have changed what was read, or if the object has been replaced by another one of the same
 * name.
 */
export async function patchObject<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  before: T,
  after: T,
  { conditions, isExclusive = false, unchanged = [], ...options }: PatchObjectOptions = {},
): Promise<T> {
  const changes = jsonPatchBetween(before, after, { conditions });
  if (changes.length === 0) return before;
  const { namespace, name = "", uid, resourceVersion } = before.metadata;
  const guards = { uid, ...(isExclusive && { resourceVersion }) };
  const tests = Object.entries(guards)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => ({ op: "test" as const, path: `/metadata/${field}`, value }));
  const same = unchanged
    .map((path) => ({ op: "test" as const, path, value: valueAt(before, path) }))
    .filter(({ value }) => value !== undefined);
  const target = namespace === undefined ? { name } : { namespace, name };
  const operations = [...tests, ...same, ...changes];
  try {
    return await client.patch(resource, target, { type: "json", operations }, options);
  } catch (error) {
    throw isFailedTest(error) ? conflict(error) : error;
  }
}

function valueAt(object: object, path: string): unknown {
  const keys = path.split("/").slice(1);
  return keys.reduce<unknown>((value, key) => Object(value)[key], object);
}

/**
 * Whether a test of the patch failed, or a path of it is gone. kube-apiserver answers only 422; if the new
 * object itself is wrong, it names the field.
 */
function isFailedTest(error: unknown): error is KubeError {
  return isKubeError(error) && error.status === 422 && !error.causes.some(({ field }) => field);
}

function conflict(error: KubeError): KubeError {
  const message = `${error.path ?? "patch"}: the object has changed since it was read; read it again`;
  const options = { path: error.path, status: 409, reason: "Conflict", causes: error.causes };
  return new KubeError("KUBE_STATUS", message, { ...options, cause: error });
}
