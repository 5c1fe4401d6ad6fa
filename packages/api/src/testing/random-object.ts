import type { IntegerFormat, SchemaNode } from "../schema/index.ts";

/** Numbers from 0 up to, but not including, 1. */
export type Random = () => number;

/** A small generator with the same numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the items. */
export function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)] as T;
}

const keys = ["a", "", "__proto__", "constructor", "toString", "length", "ä/b.c", "0"];
const texts = ["", "a", "virtio", "__proto__", "🙂", "\u0000", "x".repeat(200)];
const integers: Readonly<Record<IntegerFormat, readonly number[]>> = {
  int: [0, -1, 2 ** 40, -(2 ** 63)],
  int32: [0, -1, 2 ** 31 - 1],
  int64: [0, -1, 2 ** 60],
  uint: [0, 1, 2 ** 64],
  uint8: [0, 255],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2 ** 64],
};

/** A value that is valid for the schema. */
export function sample(node: SchemaNode, random: Random): unknown {
  switch (node.kind) {
    case "string":
      if (node.format === "date-time")
        return pick(["2026-01-31T08:30:00Z", "2024-02-29T00:00:00.5+02:00"], random);
      if (node.format === "duration") return pick(["0", "1h30m", "2.5s"], random);
      return pick(node.known ?? texts, random);
    case "boolean":
      return random() < 0.5;
    case "integer":
      return pick(integers[node.format], random);
    case "float":
      return pick([0, 0.5, -1e300], random);
    case "quantity":
      return pick(["0", "1.5Gi", "-3m", "1e3", 7], random);
    case "int-or-string":
      return pick([80, "http"], random);
    case "nullable":
      return random() < 0.3 ? null : sample(node.inner, random);
    case "any-object":
      return { [pick(keys, random)]: anything(random, 2) };
    case "array":
      return Array.from({ length: Math.floor(random() * 3) }, () => sample(node.items, random));
    case "map":
      return Object.fromEntries(
        pickSome(keys, random).map((key) => [key, sample(node.values, random)]),
      );
    case "object":
      return objectOf(node, random);
  }
}

function objectOf({ fields }: SchemaNode & { kind: "object" }, random: Random): object {
  const object: Record<string, unknown> = {};
  const share = Math.min(0.5, 4 / fields.size);
  for (const [name, { schema, required }] of fields) {
    if (required || random() < share) object[name] = sample(schema, random);
    else if (random() < 0.02) object[name] = null;
  }
  return object;
}

function pickSome<T>(items: readonly T[], random: Random): T[] {
  return items.filter(() => random() < 0.2);
}

/** JSON of any shape, including dangerous keys. */
export function anything(random: Random, depth: number): unknown {
  const way = random();
  if (way < 0.02) return Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i]));
  if (depth === 0 || way < 0.4) {
    return pick([null, true, -1, 0.5, 2 ** 70, "", "x".repeat(5000), "2Gi"], random);
  }
  const items = Array.from({ length: Math.floor(random() * 6) }, () => anything(random, depth - 1));
  if (way < 0.6) return items;
  const names = [...keys, "spec", "metadata", "status", "domain", "devices", "template"];
  const entries = items.map(
    (item) => `${JSON.stringify(pick(names, random))}:${JSON.stringify(item)}`,
  );
  return JSON.parse(`{${entries.join(",")},"__proto__":{"polluted":true}}`.replace("{,", "{"));
}
