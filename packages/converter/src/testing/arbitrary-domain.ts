import type { XmlTree } from "@virtkit/conformance/recorded";
import fc from "fast-check";
import { type Domain, domainElement } from "../model/domain.ts";
import type { AnyElementType, AnyField } from "../model/element.ts";

/** Text that XML can hold, with everything that needs escaping. */
export const xmlText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."&<>\"'\t\n\r ]=;#x1"),
    fc.constantFrom("&amp;", "]]>", "<!--", "é", "日", "😀", "\u0085", "\ud7ff", "\ufffd"),
    fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 12,
});

/** Any object that the model's tables allow: all elements, filled at random. */
export const arbitraryDomain: fc.Arbitrary<Domain> = fc
  .gen()
  .map((gen) => randomElement(domainElement, gen, 0) as unknown as Domain);

type Gen = fc.GeneratorValue;

function randomElement(type: AnyElementType, gen: Gen, depth: number): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, field] of type.fields) {
    // A source within a source within a source says nothing new.
    if (!gen(fc.boolean) || (depth > 5 && "element" in field)) continue;
    object[key] = randomValue(field, gen, depth);
  }
  return object;
}

function randomValue(field: AnyField, gen: Gen, depth: number): unknown {
  switch (field.kind) {
    case "flag":
      return true;
    case "child":
      return randomElement(field.element, gen, depth + 1);
    case "children": {
      const count = gen(fc.nat, { max: 2 });
      return Array.from({ length: count }, () => randomElement(field.element, gen, depth + 1));
    }
    default:
      return field.type === "string" ? gen(() => xmlText) : gen(fc.maxSafeInteger);
  }
}

/** The tree that a domain must become, computed from the tables without writing XML. */
export function expectedTree(
  value: Record<string, unknown>,
  type: AnyElementType = domainElement,
  name = "domain",
): XmlTree {
  const tree: XmlTree = { name, attributes: {}, children: [], text: "" };
  for (const [key, field] of type.fields) {
    const found = value[key];
    if (found === undefined) continue;
    addField(tree, field, key, found);
  }
  return tree;
}

function addField(tree: XmlTree, field: AnyField, key: string, found: unknown): void {
  const name = "name" in field ? (field.name ?? key) : key;
  switch (field.kind) {
    case "attribute":
      tree.attributes[name] = String(found);
      break;
    case "text":
      tree.text = String(found);
      break;
    case "leaf":
      tree.children.push({ name, attributes: {}, children: [], text: String(found) });
      break;
    case "flag":
      tree.children.push({ name, attributes: {}, children: [], text: "" });
      break;
    case "child":
      tree.children.push(expectedTree(found as Record<string, unknown>, field.element, name));
      break;
    case "children":
      for (const item of found as Record<string, unknown>[]) {
        tree.children.push(expectedTree(item, field.element, name));
      }
  }
}
