import { type Domain, domainElement } from "../model/domain.ts";
import type { AnyElementType, AnyField } from "../model/element.ts";
import type { XmlElement, XmlExtra, XmlInner } from "../model/extensible.ts";
import { impliedValue } from "./implied.ts";
import { malformed, readDocument, type XmlNode } from "./read-document.ts";
import { type ReadPlan, type ReadStep, readPlan } from "./read-plan.ts";

/**
 * Reads a domain from XML that {@link toXml} wrote, that libvirt returned, or that a person wrote. It uses the same
 * tables as the writer, so `parseDomain(toXml(domain))` equals `domain`.
 *
 * Nothing that libvirt can see is lost: what the model has no property for, or cannot represent (such as text in
 * place of a number), is kept in `extra` and written again, after the model's own elements. Comments are dropped,
 * and so is the order among elements with different names. A property that the type requires and the document lacks
 * gets an empty value and is listed in `extra.implied`.
 *
 * @throws ConverterError `CONVERTER_XML_MALFORMED` with line and column, if the document is not well-formed, has a
 * document type, is not a `domain`, has text in place of a number, or exceeds libvirt's limits: 4 MiB, 256 elements
 * deep, or 200 000 elements and attributes.
 *
 * @example
 * ```ts
 * const domain = parseDomain(await connection.domainXml("default_vm"));
 * domain.devices.disks[0]?.address?.slot; // "0x04", which libvirt chose
 * ```
 */
export function parseDomain(xml: string): Domain {
  return domainFromTree(readDocument(xml));
}

/** The domain that a tree describes; like {@link parseDomain}, for trees. */
export function domainFromTree(root: XmlNode): Domain {
  if (root.name !== "domain") {
    const message = `the document must be a <domain>, but is a <${root.name}>`;
    throw malformed(message, root.line, root.column);
  }
  return readElement(domainElement, root) as unknown as Domain;
}

/** What an element has so far. */
interface Reading {
  readonly plan: ReadPlan;
  readonly value: Record<string, unknown>;
  readonly attributes: [string, string][];
  readonly children: (XmlElement | string)[];
  readonly inner: [string, XmlInner][];
}

function readElement(type: AnyElementType, node: XmlNode): Record<string, unknown> {
  const plan = readPlan(type);
  const reading: Reading = { plan, value: {}, attributes: [], children: [], inner: [] };
  for (const [name, text] of Object.entries(node.attributes)) readAttribute(reading, name, text);
  const ownText = plan.text && isText(plan.text.field, node);
  for (const child of node.children) {
    if (typeof child !== "string") readChild(reading, child);
    else if (!ownText && child.trim() !== "") reading.children.push(child.trim());
  }
  if (plan.text && ownText) reading.value[plan.text.key] = readText(plan.text.field, node);
  return finish(reading);
}

/** White space around elements is not text; nothing at all is the empty text, if that is possible. */
function isText(field: AnyField, { children }: XmlNode): boolean {
  if (children.some((child) => typeof child === "string")) return true;
  return children.length === 0 && (field as { type?: string }).type === "string";
}

function readAttribute({ plan, value, attributes }: Reading, name: string, text: string): void {
  const step = plan.attributes.get(name);
  const found = step && scalarOf(step.field, text);
  if (step && found !== undefined) value[step.key] = found;
  else attributes.push([name, text]);
}

function readChild(reading: Reading, node: XmlNode): void {
  const step = reading.plan.content.get(node.name);
  if (!step || !readStep(reading, step, node)) reading.children.push(rawElement(node));
}

/** Whether the property could take the element; if not, it is kept unchanged. */
function readStep(reading: Reading, { key, field }: ReadStep, node: XmlNode): boolean {
  const { value } = reading;
  if (field.kind === "children") {
    const list = (value[key] ?? []) as unknown[];
    list.push(readElement(field.element, node));
    value[key] = list;
    return true;
  }
  if (value[key] !== undefined) return false;
  if (field.kind === "child") value[key] = readElement(field.element, node);
  else if (field.kind === "flag") return readFlag(reading, key, node);
  else return readLeaf(reading, key, field, node);
  return true;
}

function readFlag({ value, inner }: Reading, key: string, node: XmlNode): boolean {
  // Libvirt writes some of these with a state; one that is off counts as missing.
  if (node.attributes["state"] === "off") return false;
  value[key] = true;
  const { attributes, children } = rawElement(node);
  if (attributes || children)
    inner.push([key, { ...(attributes && { attributes }), ...(children && { children }) }]);
  return true;
}

function readLeaf({ value, inner }: Reading, key: string, field: AnyField, node: XmlNode): boolean {
  if (node.children.some((child) => typeof child !== "string")) return false;
  value[key] = readText(field, node);
  const { attributes } = rawElement(node);
  if (attributes) inner.push([key, { attributes }]);
  return true;
}

function readText(field: AnyField, node: XmlNode): unknown {
  const text = node.children.filter((child) => typeof child === "string").join("");
  if ((field as { type?: string }).type === "string") return text;
  const found = scalarOf(field, text.trim());
  if (found !== undefined) return found;
  const message = `<${node.name}> must be a whole number, but is ${JSON.stringify(text.slice(0, 40))}`;
  throw malformed(message, node.line, node.column);
}

/** `undefined` for a number that would be written differently. */
function scalarOf(field: AnyField, text: string): string | number | bigint | undefined {
  if ((field as { type?: string }).type === "string") return text;
  if (!/^(?:0|-?[1-9]\d{0,39})$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** The object with its properties in the order of the table, and its unknown parts. */
function finish({ plan, value, attributes, children, inner }: Reading): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  const implied: string[] = [];
  for (const { key, field } of plan.steps) {
    const found = value[key];
    if (found !== undefined) object[key] = found;
    else if (field.required) {
      object[key] = impliedValue(field);
      if (field.kind !== "children") implied.push(key);
    }
  }
  const extra: XmlExtra = {
    ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) }),
    ...(children.length > 0 && { children }),
    ...(inner.length > 0 && { inner: Object.fromEntries(inner) }),
    ...(implied.length > 0 && { implied }),
  };
  if (Object.keys(extra).length > 0) object["extra"] = extra;
  return object;
}

function rawElement({ name, attributes, children }: XmlNode): XmlElement {
  const raw = children.map((child) => (typeof child === "string" ? child : rawElement(child)));
  return {
    name,
    ...(Object.keys(attributes).length > 0 && { attributes }),
    ...(raw.length > 0 && { children: raw }),
  };
}
