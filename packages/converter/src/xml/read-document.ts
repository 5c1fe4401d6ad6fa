import { SaxesParser } from "saxes";
import { ConverterError } from "../converter-error.ts";
import { isXmlName } from "./xml-name.ts";

/** An element of a document. */
export interface XmlNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Text and elements in their order; white space between elements is left out. */
  readonly children: readonly (XmlNode | string)[];
  /** Where the opening tag ends, both from 1. */
  readonly line: number;
  readonly column: number;
}

/** Libvirt neither sends nor accepts a longer string (`REMOTE_STRING_MAX` of its protocol). */
const maxLength = 4 * 1024 * 1024;

/** The limit of libxml2, which libvirt uses. */
const maxDepth = 256;

/** Elements and attributes; a guest of 4096 CPUs, each pinned, has some 30 000. */
const maxNodes = 200_000;

type Mutable = Omit<XmlNode, "children"> & { children: (XmlNode | string)[] };

/**
 * Reads a document into a tree. Comments and processing instructions are dropped. A document type is refused, and
 * with it any entity except XML's own five. Length, depth and number of nodes are limited, which bounds time and
 * memory; no domain reaches these limits.
 *
 * @throws ConverterError `CONVERTER_XML_MALFORMED` with line and column.
 */
export function readDocument(xml: string): XmlNode {
  if (typeof xml !== "string") throw malformed(`must be a string, but is ${typeof xml}`, 1, 1);
  const parser = new SaxesParser({ position: true });
  const top: Mutable = { name: "", attributes: {}, children: [], line: 1, column: 1 };
  const stack: Mutable[] = [top];
  let nodes = 0;

  const fail = (message: string): never => {
    throw malformed(message, parser.line, parser.column + 1);
  };
  const count = (name: string): void => {
    nodes++;
    if (nodes > maxNodes) fail(`there are more than ${maxNodes} elements and attributes`);
    if (!isXmlName(name)) fail(`${JSON.stringify(name)} has more than one prefix`);
  };
  parser.on("error", (error) => fail(withoutPosition(error.message)));
  parser.on("doctype", () => {
    fail("a document type is not allowed here; remove <!DOCTYPE>");
  });
  parser.on("attribute", ({ name }) => count(name));
  parser.on("opentag", ({ name, attributes }) => {
    count(name);
    if (stack.length > maxDepth) fail(`elements are nested more than ${maxDepth} deep`);
    const { line } = parser;
    const column = parser.column + 1;
    const node: Mutable = { name, attributes: plain(attributes), children: [], line, column };
    stack.at(-1)?.children.push(node);
    stack.push(node);
  });
  const addText = (text: string): void => {
    const into = stack.at(-1)?.children ?? [];
    const last = into.length - 1;
    if (typeof into[last] === "string") into[last] += text;
    else into.push(text);
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    dropIndentation(stack.pop() ?? top);
  });

  refuseLoneSurrogate(xml);
  // The allowed part is read, so that the error is where it ends.
  parser.write(xml.length > maxLength ? xml.slice(0, maxLength) : xml);
  if (xml.length > maxLength) fail(`the document is longer than ${maxLength} characters`);
  parser.close();
  const root = top.children.find((child) => typeof child !== "string");
  return root ?? fail("there is no element");
}

/** An error about a place in a document. */
export function malformed(message: string, line: number, column: number): ConverterError {
  return new ConverterError("CONVERTER_XML_MALFORMED", message, { line, column });
}

/** The parser accepts a lone surrogate, which no document can hold. */
function refuseLoneSurrogate(xml: string): void {
  const at = xml.search(/\p{Surrogate}/u);
  if (at < 0) return;
  const before = xml.slice(0, at).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  throw malformed("there is a lone surrogate; remove it", before.length, column);
}

/** White space alone is content only if there is nothing else. */
function dropIndentation(node: Mutable): void {
  const elements = node.children.filter((child) => typeof child !== "string");
  if (elements.length === 0 || elements.length === node.children.length) return;
  const texts = node.children.filter((child) => typeof child === "string");
  if (texts.every((text) => text.trim() === "")) node.children = elements;
}

/** An ordinary object, because the parser's has no prototype; `__proto__` stays an ordinary name. */
function plain(attributes: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes)) as Record<string, string>;
}

/** The parser's messages begin with the position, which the error has in separate fields. */
function withoutPosition(message: string): string {
  return message.replace(/^(?:[^:]*:)?\d+:\d+: /, "").replace(/\.$/, "");
}
