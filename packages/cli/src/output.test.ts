import { expect, test } from "vitest";
import { parse } from "yaml";
import { formatObjects, outputFormat } from "./output.ts";

test("JSON has one object after the other, YAML has documents", () => {
  expect(formatObjects([{ a: 1 }, { b: [2] }], "json")).toBe(
    '{\n  "a": 1\n}\n{\n  "b": [\n    2\n  ]\n}\n',
  );
  expect(formatObjects([{ a: 1 }, { b: [2] }], "yaml")).toBe("a: 1\n---\nb:\n  - 2\n");
});

test("YAML means the same to readers of version 1.1 and 1.2", () => {
  const value = {
    a: [
      "yes",
      "on",
      "012",
      "0o14",
      "1e3",
      "~",
      "null",
      "1_000",
      "2001-01-01",
      "12:30:45",
      "=",
      "<<",
    ],
    long: "x ".repeat(200),
    lines: "a\nb\n",
  };
  const text = formatObjects([value], "yaml");
  expect(parse(text, { version: "1.1" })).toEqual(value);
  expect(parse(text, { schema: "core" })).toEqual(value);
});

test("shared objects are written out, and toJSON and undefined are respected", () => {
  const shared = { toJSON: () => "2Gi" };
  expect(formatObjects([{ a: shared, b: shared, c: undefined }], "yaml")).toBe("a: 2Gi\nb: 2Gi\n");
});

test("-o accepts what the command writes, and defaults to its first format", () => {
  expect(outputFormat(undefined, ["text", "json"])).toBe("text");
  expect(outputFormat("json", ["text", "json"])).toBe("json");
  expect(() => outputFormat("xml", ["text", "json"])).toThrow("use one of text, json");
});
