import { isObject } from "@virtkit/api/shape";

/** `null` is how JSON writes that a field is missing; in a merge patch it is more than that. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    entries.map(([key, field]) => [key, key === "vmiPatch" ? field : withoutNulls(field)]),
  );
}
