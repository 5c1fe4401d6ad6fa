import fc from "fast-check";
import { expect, test } from "vitest";
import { sample } from "./sample.ts";
import { xmlTokens } from "./xml-tokens.ts";
import { yamlTokens } from "./yaml-tokens.ts";

/** `key<a>: number<1>` for the pieces of a line that have a colour. */
function shown(line: string): string {
  const tokens = yamlTokens(line)[0] ?? [];
  return tokens.map(({ text, kind }) => (kind ? `${kind}<${text}>` : text)).join("");
}

test.each([
  ["  cores: 1 # two", "  key<cores>: number<1> comment<# two>"],
  ["- name: root-1", "- key<name>: root-1"],
  ["a: {b: true, c: 'it''s'}", "key<a>: {key<b>: number<true>, key<c>: string<'it''s'>}"],
  ['"a b": "x # y"', 'key<"a b">: string<"x # y">'],
  ["image: registry.example/a:latest", "key<image>: registry.example/a:latest"],
  ["memory: 1Gi", "key<memory>: 1Gi"],
  ["kubevirt.io/vm: null", "key<kubevirt.io/vm>: number<null>"],
  ["url: http://a/#b", "key<url>: http://a/#b"],
])("%s", (line, expected) => {
  expect(shown(line)).toBe(expected);
});

test("a block of text is one string, up to its end", () => {
  const lines = yamlTokens("userData: |\n  # not a comment\n\n  a: 1\nnext: 1");
  expect(lines[1]).toEqual([{ text: "  # not a comment", kind: "string" }]);
  expect(lines[3]).toEqual([{ text: "  a: 1", kind: "string" }]);
  expect(lines[4]?.[0]).toEqual({ text: "next", kind: "key" });
});

test("the joined pieces are the text, whatever it is", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom(..."ab:-#'\"{}[],|> \n1\t".split(""))).map((all) => all.join("")),
  );
  const joined = (lines: ReturnType<typeof yamlTokens>): string =>
    lines.map((tokens) => tokens.map((token) => token.text).join("")).join("\n");
  expect(joined(yamlTokens(sample))).toBe(sample);
  fc.assert(fc.property(text, (any) => joined(yamlTokens(any)) === any));
  fc.assert(
    fc.property(text, (any) => {
      const line = any.replaceAll(/[\n\r\u2028\u2029]/g, "");
      expect(
        xmlTokens(line)
          .map((token) => token.text)
          .join(""),
      ).toBe(line);
    }),
  );
});

test("a long line takes linear time", () => {
  const start = performance.now();
  for (const part of ["a", "'", '"\\', "a:", "1_", "# ", "- "]) yamlTokens(part.repeat(50_000));
  expect(performance.now() - start).toBeLessThan(5_000);
});
