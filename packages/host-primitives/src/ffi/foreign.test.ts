import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isHostError } from "../host-error.ts";
import { cString, errnoName, integer } from "./foreign.ts";

const source = join(import.meta.dirname, "..");

/** Declarations of foreign functions that lack one of their two comments, in a source text. */
function uncommented(text: string): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    if (!/= foreign\($|= foreign\("/.test(line)) return [];
    let first = index;
    while (lines[first - 1]?.startsWith("//")) first--;
    const comment = lines.slice(first, index).join("\n");
    return /^\/\/ Needed: /m.test(comment) && /^\/\/ Safe: /m.test(comment) ? [] : [line];
  });
}

test("every foreign function says why it is needed and why it is safe", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(source, file), "utf8"));
  expect(files.join("\n").match(/= foreign\(/g)?.length).toBeGreaterThan(30);
  expect(files.flatMap(uncommented)).toEqual([]);
});

test("finds a foreign function without its comments", () => {
  expect(uncommented('// Needed: x.\nconst a = foreign("a", []);')).toHaveLength(1);
  expect(uncommented('// Needed: x.\n// Safe: y.\nconst a = foreign("a", []);')).toEqual([]);
});

test("koffi is imported in one place only", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (file) =>
      file.endsWith(".ts") &&
      !file.endsWith(".test.ts") &&
      /["(]koffi"/.test(readFileSync(join(source, file), "utf8")),
  );
  expect(files).toEqual(["ffi/foreign.ts"]);
});

test("rejects a NUL inside a string, because the kernel would cut it there", () => {
  expect(cString("a", "path")).toEqual(Buffer.from([0x61, 0]));
  expect(() => cString("a\0b", "path")).toThrow(/NUL/);
});

test.each([[1.5], [Number.NaN], [2 ** 31], [-1]])(
  "rejects %d, which would be rounded or wrapped",
  (value) => {
    try {
      integer(value, 0, 100, "field");
      expect.unreachable();
    } catch (error) {
      expect(isHostError(error) && error.path).toBe("field");
    }
  },
);

test("each error number has one name", () => {
  expect([errnoName(1), errnoName(11), errnoName(95), errnoName(9999)]).toEqual([
    "EPERM",
    "EAGAIN",
    "EOPNOTSUPP",
    "E9999",
  ]);
});
