import { isDeepStrictEqual } from "node:util";
import type { JsonPatchOperation } from "../client/kube-client.ts";

type Json = Readonly<Record<string, unknown>>;

/** Options of {@link jsonPatchBetween}. */
export interface PatchBetweenOptions {
  /**
   * Paths of lists of conditions, such as `/status/conditions`. Two lists are equal if every condition has the same
   * status, reason and message; order and timestamps do not matter.
   */
  readonly conditions?: readonly string[] | undefined;
}

/**
 * The JSON patch that turns one object into another. It tests that each value it replaces or removes is still what
 * was read, and that each value it adds does not exist yet, so that no one's change is overwritten unnoticed. It
 * does not touch what has not changed, so others may change that. A list is one value. An empty patch means that
 * there is nothing to write.
 *
 * `undefined` is left out, as in JSON. A test for null passes if there is no value, as in kube-apiserver.
 */
export function jsonPatchBetween(
  before: object,
  after: object,
  { conditions = [] }: PatchBetweenOptions = {},
): JsonPatchOperation[] {
  const changes = changesBetween("", before as Json, after as Json, new Set(conditions));
  return [
    ...changes.filter(({ op }) => op === "test"),
    ...changes.filter(({ op }) => op !== "test"),
  ];
}

function changesBetween(
  path: string,
  before: Json,
  after: Json,
  conditions: ReadonlySet<string>,
): JsonPatchOperation[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const [old, value] = [before[key], after[key]];
    if (isDeepStrictEqual(old, value)) return [];
    if (isMap(old) && isMap(value)) return changesBetween(at, old, value, conditions);
    if (conditions.has(at) && haveSameMeaning(old, value)) return [];
    return change(at, old, value);
  });
}

function change(path: string, old: unknown, value: unknown): JsonPatchOperation[] {
  const test: JsonPatchOperation = { op: "test", path, value: old ?? null };
  if (value === undefined) return [test, { op: "remove", path }];
  return [test, { op: old === undefined ? "add" : "replace", path, value }];
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function haveSameMeaning(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(meaning(one), meaning(other));
}

/** Conditions by their type, without the times; no list at all says the same as an empty one. */
function meaning(conditions: unknown): unknown {
  const all = conditions === undefined ? [] : conditions;
  if (!Array.isArray(all) || !all.every(isMap)) return conditions;
  return Object.fromEntries(
    all.map(({ type, lastTransitionTime: _moved, lastProbeTime: _probed, ...said }) => {
      const { reason = "", message = "", ...rest } = said;
      return [String(type), { ...rest, reason, message }];
    }),
  );
}
