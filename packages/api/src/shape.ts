/** Any object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields: not an array, not `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value itself if it is an object, otherwise an empty object: a missing one has no fields. */
export function object(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The items of a list that are objects; none if the value is not a list. If all of them are, it is the list itself. */
export function objects<T = JsonObject>(value: unknown): readonly T[] {
  if (!Array.isArray(value)) return [];
  return (value.every(isObject) ? value : value.filter(isObject)) as readonly T[];
}

/** The value if it is a string, otherwise an empty string. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value if it is a finite number, otherwise `fallback`. */
export function number(value: unknown, fallback = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : fallback;
}

/** Whether a field is present; JSON writes `null` for a missing one. */
export function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/**
 * The value at a path of own fields, or `undefined` if the path ends early.
 *
 * Objects come from outside: a type says what they should be, this reads what they are.
 */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current ?? undefined;
}

/** A field of a user-written map, such as labels: own fields only, and only strings. */
export function entry(map: unknown, key: string): string | undefined {
  const value = at(map, key);
  return typeof value === "string" ? value : undefined;
}
