import fc from "fast-check";
import { expect, test } from "vitest";
import { shareStructure } from "./share-structure.ts";

const parsed = (value: unknown) => JSON.parse(JSON.stringify(value));

test("equal parts are shared; the rest stays as it is", () => {
  const old = { spec: { cpu: { cores: 2 }, disks: [{ name: "a" }] }, status: { phase: "Running" } };
  const next = parsed({ ...old, status: { phase: "Failed" } });
  const shared = shareStructure(next, old);
  expect(shared).toEqual({ ...old, status: { phase: "Failed" } });
  expect(shared.spec).toBe(old.spec);
  expect(shared).not.toBe(old);
  expect(old.status).toEqual({ phase: "Running" });
});

test("a value that is equal throughout is replaced by the other one", () => {
  const old = { a: [1, { b: null }] };
  expect(shareStructure(parsed(old), old)).toBe(old);
});

test.each([
  ["one more key", { a: {} }, { a: { b: 1 } }],
  ["one key less", { a: { b: 1 } }, { a: {} }],
  ["an array for an object", { a: [] }, { a: {} }],
  ["a shorter array", { a: [1] }, { a: [1, 2] }],
  ["a key that every object inherits", JSON.parse('{"__proto__":{}}'), {}],
  ["the name of a method", { toString: {} }, {}],
  ["another key", { a: {}, c: 1 }, { a: {}, b: 1 }],
])("%s counts as a difference", (_what, value, like) => {
  const text = JSON.stringify(value);
  expect(JSON.stringify(shareStructure(value, like))).toBe(text);
});

test("sharing never changes either value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, like) => {
      const [before, other] = [JSON.stringify(value), JSON.stringify(like)];
      expect(JSON.stringify(shareStructure(parsed(value), like))).toBe(before);
      expect(JSON.stringify(like)).toBe(other);
    }),
  );
});

test("a value too deep for the stack is shared only near the top", () => {
  const deep = () => JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
  const old = deep();
  expect(shareStructure(deep(), old) === old).toBe(false);
});
