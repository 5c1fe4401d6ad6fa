import { isObject } from "@virtkit/api/shape";

/** A field of a request's input that must be a string; throws an error that names it otherwise. */
export function stringField(input: unknown, name: string): string {
  const value = field(input, name);
  if (typeof value === "string") return value;
  throw new InputError(`input.${name}`, `is ${kind(value)}; pass a string`);
}

/** A string that may be missing; then it is empty. `at` is the path of its parent. */
export function textField(holder: unknown, name: string, at = "input"): string {
  const value = field(holder, name) ?? "";
  if (typeof value === "string") return value;
  throw new InputError(`${at}.${name}`, `is ${kind(value)}; pass a string`);
}

/** A list of strings that may be missing; then it is empty. `at` is the path of its parent. */
export function textsField(holder: unknown, name: string, at = "input"): readonly string[] {
  const value = field(holder, name) ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new InputError(`${at}.${name}`, `is ${kind(value)}; pass a list of strings`);
}

/** A field of a request's input that must be an object. */
export function objectField(input: unknown, name: string): object {
  const value = field(input, name);
  if (isObject(value)) return value;
  throw new InputError(`input.${name}`, `is ${kind(value)}; pass an object`);
}

/** A list of objects that may be missing; then it is empty. `at` is the path of its parent. */
export function listField<T extends object>(
  holder: unknown,
  name: string,
  at = "input",
): readonly T[] {
  return objectsOf(field(holder, name) ?? [], `${at}.${name}`);
}

/** A list of objects; throws an error that names the list, or its first item that is not an object. */
export function objectsOf<T extends object>(list: unknown, path: string): readonly T[] {
  if (!Array.isArray(list)) throw new InputError(path, `is ${kind(list)}; pass a list`);
  const odd = list.findIndex((item) => !isObject(item));
  if (odd < 0) return list;
  throw new InputError(`${path}[${odd}]`, `is ${kind(list[odd])}; pass an object`);
}

/** A field of a request's input that must be a whole number, as a number or as decimal text. */
export function integerField(input: unknown, name: string): bigint {
  const value = field(input, name);
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text === "string" && /^-?[0-9]{1,40}$/.test(text)) return BigInt(text);
  throw new InputError(`input.${name}`, `is ${kind(value)}; pass a whole number`);
}

/** A request has something else where a function needs a value. */
export class InputError extends Error {
  readonly code = "BATCH_BAD_INPUT";
  readonly path: string;

  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path} ${what}`, options);
    this.path = path;
  }
}

function field(input: unknown, name: string): unknown {
  const holder = Object(input) as Record<string, unknown>;
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}

function kind(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
