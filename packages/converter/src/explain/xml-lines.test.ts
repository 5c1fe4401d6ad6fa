import fc from "fast-check";
import { expect, test } from "vitest";
import type { Domain } from "../model/domain.ts";
import { arbitraryDomain } from "../testing/arbitrary-domain.ts";
import { smallContext, smallVmi } from "../testing/conversion.ts";
import { toXml } from "../xml/to-xml.ts";
import { domainTree, type TreeNode } from "./domain-tree.ts";
import { explain } from "./explain.ts";
import type { ExplainedNode } from "./explanation.ts";
import { xmlLines } from "./xml-lines.ts";

const step = { kind: "rule", name: "r", summary: "R." } as const;

/** An explanation with only as much as is written. */
function outlineOf(tree: TreeNode): ExplainedNode[] {
  const { kind, name, value } = tree;
  const node: ExplainedNode = { path: name, kind, name, value, sources: [], step };
  return [node, ...[...tree.attributes, ...tree.children].flatMap(outlineOf)];
}

function written(domain: Domain): string {
  const lines = xmlLines({ domain, nodes: outlineOf(domainTree(domain)) });
  return `${lines.map((line) => line.map(({ text }) => text).join("")).join("\n")}\n`;
}

test("the joined lines equal the output of toXml, for any domain", () => {
  fc.assert(
    fc.property(arbitraryDomain, (domain) => {
      expect(written(domain)).toBe(toXml(domain));
    }),
    { numRuns: 100 },
  );
});

test("the same holds for elements that the model does not know", () => {
  const { domain } = explain(smallVmi(), smallContext());
  const inner = { name: "b", attributes: { c: "<" } };
  domain.extra = {
    attributes: { "x:y": "1", type: "in the model too" },
    children: [
      { name: "a", children: ["text\n", inner, "&"] },
      { name: "a", children: [inner] },
    ],
  };
  expect(written(domain)).toBe(toXml(domain));
});

test("each piece knows its explanation", () => {
  const lines = xmlLines(explain(smallVmi(), smallContext()));
  const line = lines.find((tokens) => tokens.some(({ text }) => text === "<memory")) ?? [];
  expect(line.map(({ text, node }) => [text, node?.path])).toEqual([
    ["  ", undefined],
    ["<memory", "memory"],
    [" ", undefined],
    ['unit="b"', "memory.@unit"],
    [">", "memory"],
    ["1073741824", "memory"],
    ["</memory>", "memory"],
  ]);
});
