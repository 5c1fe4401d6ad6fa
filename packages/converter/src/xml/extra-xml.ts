import type { XmlElement, XmlExtra } from "../model/extensible.ts";
import { escapeText } from "./escape-xml.ts";
import { isXmlName } from "./xml-name.ts";
import { attributeOf, UnwritableError } from "./xml-value.ts";

/*
 * What the model does not know. As in `toXml`, each function takes the document so far and returns
 * it with something added.
 */

/** Adds an element, or a text, on a line of its own. */
export function addExtraChild(before: string, child: XmlElement | string, depth: number): string {
  if (typeof child === "string") return `${before}\n${escapeText(child)}`;
  const { name, children = [] } = child;
  const indent = `\n${"  ".repeat(depth)}`;
  const tag = addTag(before + indent, child);
  if (children.length === 0) return `${tag}/>`;
  // White space is content where text is: such an element stays on one line.
  if (children.some((inner) => typeof inner === "string")) {
    return `${addInline(`${tag}>`, children)}</${name}>`;
  }
  let out = `${tag}>`;
  for (const inner of children) out = addExtraChild(out, inner, depth + 1);
  return `${out}${indent}</${name}>`;
}

/** Adds elements and texts without white space between them. */
export function addInline(before: string, nodes: XmlExtra["children"]): string {
  let out = before;
  for (const node of nodes ?? []) {
    out =
      typeof node === "string"
        ? out + escapeText(node)
        : `${addInline(`${addTag(out, node)}>`, node.children)}</${node.name}>`;
  }
  return out;
}

/** The tag without its end. */
function addTag(before: string, { name, attributes }: XmlElement): string {
  requireName(name);
  return addExtraAttributes(`${before}<${name}`, attributes);
}

/** Adds attributes to a tag that is not ended yet. */
export function addExtraAttributes(before: string, attributes: XmlExtra["attributes"]): string {
  let out = before;
  for (const [name, value] of Object.entries(attributes ?? {})) {
    requireName(name);
    out += ` ${name}="${attributeOf(value)}"`;
  }
  return out;
}

function requireName(name: string): void {
  if (!isXmlName(name)) throw new UnwritableError("is no XML name");
}
