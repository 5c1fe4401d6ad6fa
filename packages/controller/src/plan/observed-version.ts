import type { Names } from "@virtkit/api/names";
import { at, entry, object } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";
import { valuePatch } from "./field-patch.ts";

const version = "v1";

/**
 * The patch that records on an object which version of the API its writer knows, which makes the
 * API server store it in that version. Empty if that is recorded already.
 */
export function observedVersion(
  target: unknown,
  { annotations }: Pick<Names, "annotations">,
): readonly JsonPatchOperation[] {
  const { latestObservedApiVersion: latest, storageObservedApiVersion: stored } = annotations;
  const before = at(target, "metadata", "annotations");
  if (entry(before, latest) === version && entry(before, stored) === version) return [];
  return valuePatch("/metadata/annotations", before, withObservedVersion(before, { annotations }));
}

/** Annotations with the version of the API that their writer knows. */
export function withObservedVersion(
  before: unknown,
  { annotations }: Pick<Names, "annotations">,
): Record<string, string> {
  const { latestObservedApiVersion: latest, storageObservedApiVersion: stored } = annotations;
  return {
    ...(object(before) as Record<string, string>),
    [latest]: version,
    [stored]: version,
  };
}
