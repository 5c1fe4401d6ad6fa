import { expect, test } from "vitest";
import { jsonStream } from "./json-stream.ts";

test("objects follow one another, even with braces in strings", () => {
  expect([...jsonStream('{"a":"}\\"{"}{"b":{"c":1}}\n {}\n')]).toEqual([
    { a: '}"{' },
    { b: { c: 1 } },
    {},
  ]);
  expect([...jsonStream(" ")]).toEqual([]);
});

test.each(["{", "x", '{"a":"', "{}x"])("%j is not valid", (text) => {
  expect(() => [...jsonStream(text)]).toThrow(SyntaxError);
});

test("an object is read before what follows it", () => {
  expect(jsonStream('{"a":1}{').next().value).toEqual({ a: 1 });
});
