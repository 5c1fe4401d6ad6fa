import type { JsonPatchOperation } from "../defaults/index.ts";
import { encodeGrant, freeGrant, grantAnnotation } from "../grant/index.ts";
import type { Names } from "../names/index.ts";
import { at, entry, object } from "../shape.ts";
import type { AdmissionKind } from "./admission-request.ts";

/** The API version that the writer of an object knows. The webhook records it, so that controllers need not. */
const observedVersion = "v1";

type Marked = Pick<Names, "annotations" | "finalizers" | "own">;

/**
 * The metadata of a new object with everything that controllers would otherwise add in a separate pass: the
 * finalizer of its kind, the API version that was observed, and for a VMI the run grant, which is `Free` no matter
 * what was sent.
 */
export function withCreationMarks<T extends object>(
  kind: AdmissionKind,
  metadata: T | undefined,
  names: Marked,
): T {
  const { latestObservedApiVersion: latest, storageObservedApiVersion: stored } = names.annotations;
  const finalizer = {
    VirtualMachineInstance: names.finalizers.vmi,
    VirtualMachine: names.finalizers.vm,
    VirtualMachineInstanceMigration: names.finalizers.migration,
  }[kind];
  const before = at(metadata, "finalizers");
  const finalizers = [...new Set([...(Array.isArray(before) ? before : []), finalizer])];
  const observed =
    kind === "VirtualMachineInstanceMigration"
      ? {}
      : { [latest]: observedVersion, [stored]: observedVersion };
  const annotations = {
    ...object(at(metadata, "annotations")),
    ...observed,
    ...(kind === "VirtualMachineInstance"
      ? { [names.own(grantAnnotation)]: encodeGrant(freeGrant) }
      : {}),
  };
  return { ...metadata, annotations, finalizers } as unknown as T;
}

/**
 * The patch that restores the stored run grant of a VMI if an update would change or remove it. Only the platform's
 * own components may change the grant; the caller must check that.
 */
export function restoredGrant(
  object: unknown,
  oldObject: unknown,
  names: Marked,
): readonly JsonPatchOperation[] {
  const key = names.own(grantAnnotation);
  const annotations = at(object, "metadata", "annotations");
  const now = at(annotations, key);
  const stored = entry(at(oldObject, "metadata", "annotations"), key);
  if (now === stored) return [];
  const path = `/metadata/annotations/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (stored === undefined) return [{ op: "remove", path }];
  if (annotations === undefined) {
    return [{ op: "add", path: "/metadata/annotations", value: { [key]: stored } }];
  }
  return [{ op: "add", path, value: stored }];
}
