import { expect, test } from "vitest";
import {
  type Check,
  dictionary,
  fields,
  flag,
  list,
  open,
  record,
  text,
  whole,
  word,
} from "./check.ts";

const refused = (check: Check<unknown>, value: unknown): unknown => {
  try {
    check(value, "at");
  } catch (error) {
    return (error as { path?: string }).path;
  }
  return "taken";
};

test("accepts a valid value, or names the field in the error", () => {
  const check = fields({ name: text(3), count: whole(1, 5) }, { on: flag });
  expect(check({ name: "abc", count: 5, more: 1 }, "")).toEqual({ name: "abc", count: 5 });
  expect(check({ name: "", count: 1, on: false }, "")).toEqual({ name: "", count: 1, on: false });
  expect(check({ name: "", count: 1, on: null }, "")).toEqual({ name: "", count: 1 });
  expect(refused(check, { name: "abcd", count: 5 })).toBe("at.name");
  expect(refused(check, { name: "a\0", count: 5 })).toBe("at.name");
  expect(refused(check, { name: "a", count: 1.5 })).toBe("at.count");
  expect(refused(check, { name: "a", count: 6 })).toBe("at.count");
  expect(refused(check, { name: "a", count: 1, on: "no" })).toBe("at.on");
  expect(refused(check, Object.create({ name: "a", count: 1 }))).toBe("at.name");
  for (const wrong of [null, undefined, [], "x", 1]) expect(refused(check, wrong)).toBe("at");
});

test("checks lists and dictionaries item by item", () => {
  const check = list(whole(0, 9), 2);
  expect(check([1, 2], "")).toEqual([1, 2]);
  expect(refused(check, [1, 2, 3])).toBe("at");
  expect(refused(check, [1, "2"])).toBe("at[1]");
  expect(refused(dictionary(flag), { a: true, b: 0 })).toBe("at.b");
  expect(refused(record, [])).toBe("at");
});

test("replaces an unknown word of a newer side, or rejects it", () => {
  expect(word(["a", "b"], "b")("new", "")).toBe("b");
  expect(refused(word(["a", "b"]), "new")).toBe("at");
  expect(refused(word(["a", "b"], "b"), 1)).toBe("at");
});

test("keeps fields of a newer side in values that are passed on", () => {
  expect(open({ a: flag })({ a: true, b: 1 }, "")).toEqual({ a: true, b: 1 });
});

test("an error shows the type of what was found, not the value", () => {
  expect(() => whole(0, 1)("hunter2", "at")).toThrow(/^(?!.*hunter2).*found string/);
});
