import { create } from "xmlbuilder2";
import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import type { Domain } from "../model/domain.ts";
import { domainFromTree } from "../xml/parse-domain.ts";
import { readDocument, type XmlNode } from "../xml/read-document.ts";
import { toXml } from "../xml/to-xml.ts";

/**
 * A domain as a document of xmlbuilder2, for hooks that think in elements.
 *
 * The document is for editing: to write it, take the domain back and use `toXml`, since xmlbuilder2
 * leaves a `&` in a text unescaped where it looks like a reference.
 *
 * @throws ConverterError as `toXml`.
 *
 * @example
 * ```ts
 * const document = toXmlBuilder(domain);
 * document.root().ele("on_crash").txt("preserve");
 * const edited = fromXmlBuilder(document);
 * ```
 */
export function toXmlBuilder(domain: Domain): XMLBuilder {
  const document = create();
  append(document, readDocument(toXml(domain)));
  return document;
}

/**
 * The domain that a document of xmlbuilder2 holds; any builder of it will do, also of an element.
 *
 * @throws ConverterError `CONVERTER_XML_MALFORMED` if its root is no `domain`, or if a text stands
 * where a number belongs. There are no lines in such a document: all is at line 1, column 1.
 */
export function fromXmlBuilder(builder: XMLBuilder): Domain {
  return domainFromTree(nodeOf(builder.root().node as unknown as DomNode));
}

function append(parent: XMLBuilder, { name, attributes, children }: XmlNode): void {
  const element = parent.ele(name, attributes);
  for (const child of children) {
    if (typeof child === "string") element.txt(child);
    else append(element, child);
  }
}

/** What is read of a node, as the DOM has it. */
interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly attributes?: Iterable<{ readonly name: string; readonly value: string }>;
  readonly childNodes: Iterable<DomNode>;
}

const elementNode = 1;
const textNodes = [3, 4];

function nodeOf(node: DomNode): XmlNode {
  const attributes = [...(node.attributes ?? [])].map(({ name, value }) => [name, value] as const);
  const children: (XmlNode | string)[] = [];
  for (const child of node.childNodes) {
    if (child.nodeType === elementNode) children.push(nodeOf(child));
    else if (textNodes.includes(child.nodeType)) children.push(child.nodeValue ?? "");
  }
  const place = { line: 1, column: 1 };
  return { name: node.nodeName, attributes: Object.fromEntries(attributes), children, ...place };
}
