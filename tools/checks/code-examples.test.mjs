import { expect, test } from "vitest";
import { fencedExamples, taggedExamples } from "./code-examples.mjs";

test("the code blocks of a document are its examples, with their lines; one may be marked as compile-only", () => {
  const text = "# a\n\n```ts\none();\n```\n\n```sh\nls\n```\n\n```ts no-run\ntwo();\n```\n";
  expect(fencedExamples("a.md", text)).toEqual([
    { where: "a.md:3", code: "one();\n", runs: true },
    { where: "a.md:11", code: "two();\n", runs: false },
  ]);
});

test("the examples of doc comments end where the comment or the next tag does", () => {
  const text =
    "/**\n * Does it.\n *\n * @example\n * ```ts\n * one();\n * ```\n */\n/**\n * @example\n * two();\n * @returns it\n */\n";
  expect(taggedExamples("a.ts", text)).toEqual([
    { where: "a.ts:4", code: "one();\n", runs: false },
    { where: "a.ts:10", code: "two();\n", runs: false },
  ]);
});
