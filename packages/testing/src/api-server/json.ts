/** A value as JSON has it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy without `undefined`, frozen throughout: what is handed out can be shared by all and changed by
 * nobody. A value that is already frozen is assumed to be one of these, and is not copied again.
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Copy.is(value)) return value;
  const copy = Array.isArray(value)
    ? value.map((item) => frozenCopy(item ?? null) as unknown)
    : copyOf(value as Readonly<Record<string, unknown>>);
  return Object.freeze(Copy.mark(copy)) as T;
}

/** A loop: every write of every object comes here. */
function copyOf(value: Readonly<Record<string, unknown>>): object {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    // The one name that would set something else.
    if (key !== "__proto__") copy[key] = frozenCopy(item);
    else Object.defineProperty(copy, key, { value: frozenCopy(item), enumerable: true });
  }
  return copy;
}

/** Answers `new` with an object that is there already: the fields of a subclass are then put into that one. */
function given(object: object): object {
  return object;
}

/**
 * Marks what {@link frozenCopy} made with a private field, which no other code can see or set. A WeakSet would say the
 * same, but with hundreds of thousands of objects in one most of the time goes to the garbage collector.
 */
class Copy extends (given as unknown as new (object: object) => object) {
  readonly #mark = true;

  static mark<T extends object>(object: T): T {
    return new Copy(object) as T;
  }

  static is(object: object): boolean {
    return #mark in object && object.#mark;
  }
}

/** Whether two values are the same JSON. The order of keys has no meaning. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => sameJson(item, other[index]));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const keys = definedKeys(one);
  return (
    keys.length === definedKeys(other).length && keys.every((key) => sameJson(one[key], other[key]))
  );
}

function definedKeys(value: JsonObject): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}
