import type { XmlElement, XmlExtra } from "../model/extensible.ts";
import { escapeText } from "./escape-xml.ts";
import { isXmlName } from "./xml-name.ts";
import { attributeOf, UnwritableError } from "./xml-value.ts";

/*
 * As in `toXml`, each function takes the document so far and returns it with something added.
 */

/** Adds an element on a line of its own. */
export function addTree(before: string, element: XmlElement, depth: number): string {
  const { name, children = [] } = element;
  const lineBreak = depth === 0 ? "" : `\n${"  ".repeat(depth)}`;
  const tag = addTag(before + lineBreak, element);
  if (children.length === 0) return `${tag}/>`;
  // White space is content beside text, so such an element stays on one line.
  if (children.some((child) => typeof child === "string")) {
    return `${addInline(`${tag}>`, children)}</${name}>`;
  }
  let out = `${tag}>`;
  for (const child of children) out = addTree(out, child as XmlElement, depth + 1);
  return `${out}\n${"  ".repeat(depth)}</${name}>`;
}

/** Adds elements and texts without white space between them. */
function addInline(before: string, nodes: XmlExtra["children"]): string {
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
  let out = `${before}<${name}`;
  for (const [key, value] of Object.entries(attributes ?? {})) {
    requireName(key);
    out += ` ${key}="${attributeOf(value)}"`;
  }
  return out;
}

function requireName(name: string): void {
  if (!isXmlName(name)) throw new UnwritableError("is not an XML name");
}
