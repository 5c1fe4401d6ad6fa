/** A field of a request's input that must be a string; throws an error that names it otherwise. */
export function stringField(input: unknown, name: string): string {
  const value = field(input, name);
  if (typeof value === "string") return value;
  throw new InputError(`input.${name}`, `is ${kind(value)}; give a string`);
}

/** A field of a request's input that must be an object. */
export function objectField(input: unknown, name: string): object {
  const value = field(input, name);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InputError(`input.${name}`, `is ${kind(value)}; give an object`);
}

/** A field of a request's input that must be a whole number, as a number or as decimal text. */
export function integerField(input: unknown, name: string): bigint {
  const value = field(input, name);
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text === "string" && /^-?[0-9]{1,40}$/.test(text)) return BigInt(text);
  throw new InputError(`input.${name}`, `is ${kind(value)}; give a whole number`);
}

class InputError extends Error {
  readonly code = "BATCH_BAD_INPUT";
  readonly path: string;

  constructor(path: string, what: string) {
    super(`${path} ${what}`);
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
