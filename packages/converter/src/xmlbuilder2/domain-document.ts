import { create } from "xmlbuilder2";
import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import type { Domain } from "../model/domain.ts";
import { domainFromTree } from "../xml/parse-domain.ts";
import { readDocument, type XmlNode } from "../xml/read-document.ts";
import { toXml } from "../xml/to-xml.ts";

/**
 * A domain as an xmlbuilder2 document, for hooks that work with XML elements.
 *
 * The document is for editing. To write it, convert it back to a domain and use `toXml`, since xmlbuilder2 does not
 * escape an `&` in text that looks like a reference.
 *
 * @throws ConverterError as `toXml` does.
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
 * The domain in an xmlbuilder2 document. Any builder of the document works, including that of an element.
 *
 * @throws ConverterError `CONVERTER_XML_MALFORMED` if the root is not a `domain`, or if there is text in place of a
 * number. Such a document has no lines: all errors are at line 1, column 1.
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

/** The used parts of a DOM node. */
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
