import type { JsonPatchOperation } from "@virtkit/kube";
import { jsonPointer } from "./json-pointer.ts";

/** Labels or annotations. */
export type TextMap = Readonly<Record<string, string>>;

/**
 * The operations that turn one map of labels or annotations into another, key by key: what others
 * write under other keys meanwhile is kept.
 */
export function mapPatch(
  path: readonly string[],
  before: TextMap | undefined,
  after: TextMap,
): readonly JsonPatchOperation[] {
  const old = before ?? {};
  const set = Object.entries(after).filter(([key, value]) => own(old, key) !== value);
  const gone = Object.keys(old).filter((key) => own(after, key) === undefined);
  if (set.length === 0 && gone.length === 0) return [];
  if (before === undefined) {
    return [{ op: "add", path: jsonPointer(...path), value: Object.fromEntries(set) }];
  }
  return [
    ...set.map(
      ([key, value]): JsonPatchOperation => ({
        op: "add",
        path: jsonPointer(...path, key),
        value,
      }),
    ),
    ...gone.map((key): JsonPatchOperation => ({ op: "remove", path: jsonPointer(...path, key) })),
  ];
}

function own(map: TextMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
