import { LauncherError } from "../launcher-error.ts";

/**
 * Checks a value from the other side: returns it with its type, or throws a `LauncherError` that
 * names the field. These small checks are our own, because a launcher has no memory to spare for a
 * schema library.
 */
export type Check<T> = (value: unknown, path: string) => T;

/** What a check returns. */
export type Checked<C> = C extends Check<infer T> ? T : never;

type Checks = Readonly<Record<string, Check<unknown>>>;
type Required<C extends Checks> = { readonly [K in keyof C]: Checked<C[K]> };
type Optional<C extends Checks> = { readonly [K in keyof C]?: Checked<C[K]> };

function refuse(path: string, value: unknown, wanted: string): never {
  // Only the type: the value may be a secret.
  const found = value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
  const message = `${path || "message"}: found ${found}, give ${wanted}`;
  throw new LauncherError("LAUNCHER_ARGUMENT", message, { path });
}

/** A string of at most this many characters, without NUL. */
export const text =
  (most: number): Check<string> =>
  (value, path) => {
    const fits = typeof value === "string" && value.length <= most && !value.includes("\0");
    return fits ? value : refuse(path, value, `a string of at most ${most} characters without NUL`);
  };

/** A whole number within bounds. */
export const whole =
  (least: number, most: number): Check<number> =>
  (value, path) => {
    const fits =
      typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most;
    return fits ? value : refuse(path, value, `a whole number from ${least} to ${most}`);
  };

/** Any number that JSON can represent. */
export const anyNumber: Check<number> = (value, path) =>
  typeof value === "number" ? value : refuse(path, value, "a number");

export const flag: Check<boolean> = (value, path) =>
  typeof value === "boolean" ? value : refuse(path, value, "true or false");

/** An object, whatever is in it. */
export const record: Check<Readonly<Record<string, unknown>>> = (value, path) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : refuse(path, value, "an object");

/** A list of at most this many JSON values. */
export const list =
  <T>(item: Check<T>, most: number): Check<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value) || value.length > most) {
      return refuse(path, value, `a list of at most ${most}`);
    }
    return value.map((entry, index) => item(entry, `${path}[${index}]`));
  };

/** One of some words; an unknown one, which a newer side may use, becomes `otherwise`. */
export const word =
  <const W extends string>(words: readonly W[], otherwise?: NoInfer<W>): Check<W> =>
  (value, path) => {
    if (typeof value === "string" && (words as readonly string[]).includes(value))
      return value as W;
    if (typeof value === "string" && otherwise !== undefined) return otherwise;
    return refuse(path, value, `one of ${words.join(", ")}`);
  };

/** Values of any key. */
export const dictionary =
  <T>(item: Check<T>): Check<Readonly<Record<string, T>>> =>
  (value, path) => {
    const entries = Object.entries(record(value, path));
    return Object.fromEntries(entries.map(([key, entry]) => [key, item(entry, `${path}.${key}`)]));
  };

/**
 * An object with these fields, and perhaps those; others are dropped, because a newer side may send
 * more.
 */
export function fields<R extends Checks, O extends Checks = Record<never, never>>(
  required: R,
  optional?: O,
): Check<Required<R> & Optional<O>> {
  return (value, path) => {
    const found = record(value, path);
    const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
    const read: Record<string, unknown> = {};
    for (const [name, check] of Object.entries(required))
      read[name] = check(own(found, name), at(name));
    for (const [name, check] of Object.entries(optional ?? {})) {
      const entry = own(found, name);
      if (entry !== undefined && entry !== null) read[name] = check(entry, at(name));
    }
    return read as Required<R> & Optional<O>;
  };
}

/** Like {@link fields}, but keeps unknown fields, for values that are passed on. */
export function open<R extends Checks, O extends Checks = Record<never, never>>(
  required: R,
  optional?: O,
): Check<Required<R> & Optional<O>> {
  const known = fields(required, optional);
  return (value, path) => ({ ...record(value, path), ...known(value, path) });
}

function own(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
