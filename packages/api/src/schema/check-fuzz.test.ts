import { describe, expect, test } from "vitest";
import { anything, pick, type Random, randomFrom, sample } from "../testing/random-object.ts";
import { type CheckOptions, type CheckResult, check } from "./check.ts";
import { objectKinds } from "./object-kinds.ts";
import type { SchemaNode } from "./schema.ts";

type Check = (schema: SchemaNode, value: unknown, options: CheckOptions) => CheckResult<unknown>;
type Path = (string | number)[];

const runs = 10_000;
const schemas: readonly SchemaNode[] = Object.values(objectKinds).map(({ schema }) => schema);

describe("over 10,000 random objects", () => {
  test("check keeps its promises", () => {
    expect(fuzz(check, runs, 1)).toBeUndefined();
  });
});

describe("the same fuzzer finds a check that", () => {
  const sabotaged: Readonly<Record<string, Check>> = {
    "accepts an unknown field": (schema, value, options) =>
      check(schema, value, { ...options, strict: false }),
    "refuses a valid value now and then": (schema, value, options) =>
      JSON.stringify(value).includes('"name":""')
        ? { valid: false, value, issues: [] }
        : check(schema, value, options),
    "throws on null": (schema, value, options) => {
      if (JSON.stringify(value).includes("[null")) throw new TypeError("null");
      return check(schema, value, options);
    },
    copies: (schema, value, options) => {
      const result = check(schema, value, options);
      return result.valid ? { ...result, value: structuredClone(value) } : result;
    },
    "drops unknown fields from its input": (schema, value, options) => {
      const result = check(schema, value, options);
      for (const { code, path } of result.issues)
        if (code === "unknown-field") remove(value, path as Path);
      return result;
    },
    "lists issues without end": (schema, value, options) =>
      check(schema, value, { ...options, maxIssues: 1e9 }),
    "pollutes prototypes": (schema, value, options) => {
      assignDeep({}, value);
      return check(schema, value, options);
    },
  };

  test.each(Object.entries(sabotaged))("%s", (_, faulty) => {
    try {
      expect(fuzz(faulty, runs, 1)).toBeDefined();
    } finally {
      Reflect.deleteProperty(Object.prototype, "polluted");
    }
  });
});

/** Passes objects to a check until it breaks one of its promises; returns which, and with what. */
function fuzz(subject: Check, count: number, seed: number): string | undefined {
  const random = randomFrom(seed);
  for (let run = 0; run < count; run++) {
    const schema = pick(schemas, random);
    const failure = [wellFormed, faulted, noisy][run % 3]?.(subject, schema, random);
    if (failure !== undefined) return `run ${run}, seed ${seed}: ${failure}`;
  }
  return undefined;
}

/** An object made from the schema is valid. */
function wellFormed(subject: Check, schema: SchemaNode, random: Random): string | undefined {
  const value = sample(schema, random);
  const result = promises(subject, schema, value);
  if (typeof result === "string") return result;
  if (!result.valid) return `refused: ${result.issues[0]?.message} in ${JSON.stringify(value)}`;
  return undefined;
}

/** One fault in such an object is found in its place, and nothing else is. */
function faulted(subject: Check, schema: SchemaNode, random: Random): string | undefined {
  const value = sample(schema, random);
  const at = plantFault(schema, value, random);
  const result = promises(subject, schema, value);
  if (typeof result === "string") return result;
  const found = JSON.stringify(result.issues.map(({ path }) => path));
  return found === JSON.stringify([at]) ? undefined : `planted at ${at.join("/")}, found ${found}`;
}

/** Whatever else it is given, a check keeps to its limits. */
function noisy(subject: Check, schema: SchemaNode, random: Random): string | undefined {
  const value = random() < 0.5 ? anything(random, 4) : scrambled(schema, random);
  const result = promises(subject, schema, value);
  return typeof result === "string" ? result : undefined;
}

/** Calls a check and verifies what it must do for any value. */
function promises(
  subject: Check,
  schema: SchemaNode,
  value: unknown,
): CheckResult<unknown> | string {
  const before = JSON.stringify(value);
  let result: CheckResult<unknown>;
  try {
    result = subject(schema, value, { strict: true, maxIssues: 20 });
  } catch (error) {
    return `threw ${error} at ${before}`;
  }
  if (result.value !== value) return "gave back another value";
  if (JSON.stringify(value) !== before) return `changed ${before}`;
  if (result.issues.length > 20) return `listed ${result.issues.length} issues`;
  if (result.issues.some(({ message }) => message.length > 2000)) return "wrote a long message";
  if ("polluted" in {}) return "polluted Object.prototype";
  return result;
}

/** Puts one fault into a valid object and returns its place. */
function plantFault(schema: SchemaNode, value: unknown, random: Random): Path {
  const places = [...objectsOf(schema, value, [])];
  const { node, object, path } = pick(places, random);
  const required = node.required.filter((name) => object[name] !== undefined);
  const present = [...node.fields].filter(([name]) => typeof object[name] === "boolean");
  const way = random();
  if (way < 0.3 && required.length > 0) {
    const name = pick(required, random);
    if (random() < 0.5) delete object[name];
    else object[name] = null;
    return [...path, name];
  }
  if (way < 0.6 && present.length > 0) {
    const [name] = pick(present, random);
    object[name] = pick(["true", 1, [], {}], random);
    return [...path, name];
  }
  const name = pick(["notAField", "__proto__", "constructor", ""], random);
  Object.defineProperty(object, name, { value: 1, enumerable: true, configurable: true });
  return [...path, name];
}

interface Place {
  readonly node: SchemaNode & { kind: "object" };
  readonly object: Record<string, unknown>;
  readonly path: Path;
}

function* objectsOf(node: SchemaNode, value: unknown, path: Path): Generator<Place> {
  if (value === undefined || value === null) return;
  if (node.kind === "array") {
    for (const [i, item] of (value as unknown[]).entries())
      yield* objectsOf(node.items, item, [...path, i]);
  } else if (node.kind === "map") {
    for (const [key, item] of Object.entries(value))
      yield* objectsOf(node.values, item, [...path, key]);
  } else if (node.kind === "object") {
    const object = value as Record<string, unknown>;
    yield { node, object, path };
    for (const [name, { schema }] of node.fields)
      yield* objectsOf(schema, object[name], [...path, name]);
  }
}

/** A valid object whose JSON has lost, gained or swapped some bytes, if that is still JSON. */
function scrambled(schema: SchemaNode, random: Random): unknown {
  const bytes = [...JSON.stringify(sample(schema, random))];
  for (let edits = 1 + Math.floor(random() * 3); edits > 0; edits--) {
    const at = Math.floor(random() * bytes.length);
    bytes.splice(
      at,
      random() < 0.5 ? 1 : 0,
      pick(['"', "0", "{}", "[null,", "]", "}", "null", "e9", "-"], random),
    );
  }
  const text = bytes.join("");
  try {
    return JSON.parse(text);
  } catch {
    return random() < 0.5 ? text : Array.from({ length: 50 }, () => text);
  }
}

function remove(value: unknown, path: Path): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], value);
  delete (parent as Record<string, unknown>)[path.at(-1) as string];
}

/** The naive merge that makes `__proto__` dangerous. */
function assignDeep(target: Record<string, unknown>, source: unknown): void {
  for (const [key, value] of Object.entries(Object(source))) {
    if (typeof value !== "object" || value === null) target[key] = value;
    else {
      target[key] ??= {};
      assignDeep(target[key] as Record<string, unknown>, value);
    }
  }
}
