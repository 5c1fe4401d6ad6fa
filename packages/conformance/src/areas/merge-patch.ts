import { isObject } from "@virtkit/api/shape";

/** RFC 7386; without a patch nothing changes. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (patch === undefined) return value;
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(value) ? { ...value } : {};
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], change);
  }
  return merged;
}
