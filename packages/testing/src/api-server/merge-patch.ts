import { isJsonObject } from "./json.ts";
import { isMergedSet, mergeKey } from "./keyed-lists.ts";

/** The value after a merge patch (RFC 7386): objects are merged, `null` removes, all else replaces. */
export function applyMergePatch(value: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isJsonObject(value) ? value : {}) };
  for (const [key, item] of Object.entries(patch)) {
    if (item === null) delete merged[key];
    else if (item !== undefined) merged[key] = applyMergePatch(merged[key], item);
  }
  return merged;
}

/** The object after a strategic merge patch, with the directive `$patch: delete` for items of lists. */
export function applyStrategicPatch(value: unknown, patch: unknown, path = ""): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isJsonObject(value) ? value : {}) };
  for (const [key, item] of Object.entries(patch)) {
    if (key.startsWith("$")) continue;
    const at = path === "" ? key : `${path}.${key}`;
    if (item === null) delete merged[key];
    else if (Array.isArray(item)) merged[key] = mergeList(listOf(merged[key]), item, at);
    else merged[key] = applyStrategicPatch(merged[key], item, at);
  }
  return merged;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function mergeList(old: readonly unknown[], patch: readonly unknown[], at: string): unknown[] {
  if (isMergedSet(at)) return [...new Set([...old, ...patch])];
  const key = mergeKey(at);
  if (!key) return [...patch];
  const merged = [...old];
  for (const item of patch) {
    const index = merged.findIndex((each) => Object(each)[key] === Object(item)[key]);
    if (Object(item)["$patch"] === "delete") {
      if (index >= 0) merged.splice(index, 1);
    } else if (index >= 0) {
      merged[index] = applyStrategicPatch(merged[index], item, `${at}[]`);
    } else {
      merged.push(item);
    }
  }
  return merged;
}
