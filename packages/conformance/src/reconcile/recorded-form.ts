import { isObject } from "@virtkit/api/shape";

/** Fields that recorded objects do not have. */
const unrecorded = new Set([
  "lastProbeTime",
  "lastTransitionTime",
  "message",
  "resourceVersion",
  "creationTimestamp",
]);

/** A value in the form in which controllers' answers are recorded; see the READMEs of their areas. */
export function recordedForm(value: unknown, key = ""): unknown {
  if (key === "failureReason" && value) return "*";
  if (Array.isArray(value)) {
    const items = value.map((item) => recordedForm(item));
    return key === "conditions" ? items.sort(byType) : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([name, field]) => !unrecorded.has(name) && field !== undefined && field !== null)
    // Go always writes the user, and root is its zero.
    .filter(([name, field]) => name !== "runtimeUser" || field !== 0)
    .map(([name, field]): [string, unknown] => [name, recordedForm(field, name)]);
  return Object.fromEntries(entries);
}

function byType(a: unknown, b: unknown): number {
  const [first, second] = [a, b].map((item) => (isObject(item) ? String(item["type"]) : ""));
  return (first ?? "") < (second ?? "") ? -1 : 1;
}

/** Maps in which an empty value has a meaning. */
const exact = new Set(["labels", "annotations"]);

/** The value without meaningless fields: Go writes some that are empty, and leaves out others. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .map(([name, field]): [string, unknown] => [
      name,
      exact.has(name) ? field : withoutEmpty(field),
    ])
    .filter(([, field]) => !isEmpty(field));
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (value === "") return true;
  return isObject(value) && Object.keys(value).length === 0;
}
