import { ConverterError } from "../converter-error.ts";
import { type DomainDevices, devicesElement } from "../model/devices.ts";
import { type Domain, domainElement } from "../model/domain.ts";
import type { XmlElement, XmlExtra, XmlInner } from "../model/extensible.ts";
import { escapeAttribute, escapeText, XmlCharacterError } from "./escape-xml.ts";
import { findUnwritable } from "./find-unwritable.ts";
import { isImplied } from "./implied.ts";
import {
  type AttributeStep,
  type ContentStep,
  closingAt,
  contentStep,
  openingAt,
  type WritePlan,
  writePlan,
} from "./write-plan.ts";
import { isXmlName } from "./xml-name.ts";

let root: ContentStep | undefined;

/**
 * The document so far. One string that grows is the fastest way to build it: a field of an object,
 * or strings handed up, take half as long again.
 */
let out = "";

/**
 * Writes a domain as XML for libvirt: indented by two spaces, UTF-8, with a line break at the end,
 * no XML declaration. Properties that are `undefined` are left out, empty strings are written.
 *
 * @throws ConverterError `CONVERTER_XML_INVALID` with the path in the domain, if a value holds a
 * character that XML cannot express, is no string or whole number where one belongs, or if `extra`
 * has a name that is none. Nothing is written then.
 *
 * @example
 * ```ts
 * const xml = toXml(convert(vmi, context));
 * ```
 */
export function toXml(domain: Domain): string {
  root ??= contentStep("child", "", "domain", writePlan(domainElement));
  const outer = out;
  out = "";
  try {
    writeElement(root, objectOf(domain), 0);
    return `${out}\n`;
  } catch (cause) {
    throw explain(cause, domain);
  } finally {
    out = outer;
  }
}

/** Devices that come and go while a guest runs. */
export type DeviceList = "disks" | "interfaces" | "hostDevices";

/**
 * Writes one device as libvirt takes it to plug it in, out or to change it. A device that the model has
 * no type for is written as the element that it is.
 *
 * @throws ConverterError `CONVERTER_XML_INVALID` if it cannot be written; see {@link toXml}.
 *
 * @example
 * ```ts
 * const xml = toDeviceXml("disks", domain.devices.disks[0]);
 * ```
 */
export function toDeviceXml<List extends DeviceList>(
  list: List,
  device: DomainDevices[List][number],
): string;
export function toDeviceXml(list: "other", device: XmlElement): string;
export function toDeviceXml(list: DeviceList | "other", device: object): string {
  const outer = out;
  out = "";
  try {
    if (list === "other") writeExtraElement(device as XmlElement, 0);
    else writeElement(deviceStep(list), device as Record<string, unknown>, 0);
    return `${out.trimStart()}\n`;
  } catch (cause) {
    if (!(cause instanceof XmlCharacterError) && !(cause instanceof UnwritableError)) throw cause;
    throw new ConverterError("CONVERTER_XML_INVALID", cause.message, { cause, path: list });
  } finally {
    out = outer;
  }
}

function deviceStep(list: DeviceList): ContentStep {
  return writePlan(devicesElement).content.find(({ key }) => key === list) as ContentStep;
}

/** The path is looked for only once something is wrong, so that writing need not carry it along. */
function explain(cause: unknown, domain: Domain): unknown {
  if (!(cause instanceof XmlCharacterError) && !(cause instanceof UnwritableError)) return cause;
  const found = findUnwritable(domain);
  const message = found?.message ?? cause.message;
  return new ConverterError("CONVERTER_XML_INVALID", message, {
    cause,
    ...(found ? { path: found.path } : {}),
  });
}

/** A value of the wrong type, or a name that is none. */
class UnwritableError extends Error {
  override readonly name = "UnwritableError";
}

function writeElement(step: ContentStep, whole: Record<string, unknown>, depth: number): void {
  const plan = step.plan as WritePlan;
  const extra = whole["extra"] as XmlExtra | undefined;
  const value = extra?.implied ? withoutImplied(whole, extra.implied) : whole;
  out += openingAt(step, depth);
  let open = writeAttributes(plan, value);
  if (extra?.attributes) open = writeExtraAttributes(extra.attributes, open);
  const text = plan.text === undefined ? undefined : value[plan.text];
  if (text !== undefined) {
    out += open ? '">' : ">";
    out += textOf(text);
    if (extra?.children) extra.children.forEach(writeInline);
    out += step.end;
  } else if (writeContent(plan, value, depth + 1, open, extra)) {
    out += closingAt(step, depth);
  } else {
    out += open ? '"/>' : "/>";
  }
}

/** Without what the parser filled in and nobody has changed since. */
function withoutImplied(
  value: Record<string, unknown>,
  implied: readonly string[],
): Record<string, unknown> {
  const written = { ...value };
  for (const key of implied) {
    if (isImplied(written[key])) delete written[key];
  }
  return written;
}

/** Whether any was written; the quote of the last one is still open then. */
function writeAttributes(plan: WritePlan, value: Record<string, unknown>): boolean {
  let open = false;
  const steps = plan.attributes;
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as AttributeStep;
    const found = value[step.key];
    if (found === undefined) continue;
    out += open ? step.next : step.first;
    out += attributeOf(found);
    open = true;
  }
  return open;
}

/** Whether there was any; the opening tag is ended before the first. */
function writeContent(
  plan: WritePlan,
  value: Record<string, unknown>,
  depth: number,
  open: boolean,
  extra: XmlExtra | undefined,
): boolean {
  let any = false;
  const steps = plan.content;
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as ContentStep;
    const found = value[step.key];
    if (found === undefined || (step.kind === "children" && isEmptyList(found))) continue;
    if (!any) out += open ? '">' : ">";
    any = true;
    writeStep(step, found, depth, extra);
  }
  if (!extra?.children?.length) return any;
  if (!any) out += open ? '">' : ">";
  for (const child of extra.children) writeExtraChild(child, depth);
  return true;
}

function writeExtraChild(child: XmlElement | string, depth: number): void {
  if (typeof child === "string") out += `\n${escapeText(child)}`;
  else writeExtraElement(child, depth);
}

/** A leaf or flag that has more than its value. */
function writeInner(step: ContentStep, value: unknown, inner: XmlInner, depth: number): void {
  if (step.kind === "flag" && value !== true) throw new UnwritableError("is not true");
  const children = step.kind === "flag" ? inner.children : [String(scalarOf(value))];
  writeExtraElement({ name: step.name, attributes: inner.attributes, children }, depth);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function writeStep(step: ContentStep, value: unknown, depth: number, extra?: XmlExtra): void {
  const inner = extra?.inner?.[step.key];
  if (inner && !step.plan) {
    writeInner(step, value, inner, depth);
  } else if (step.kind === "children") {
    if (!Array.isArray(value)) throw new UnwritableError("is not a list");
    for (let at = 0; at < value.length; at++) writeElement(step, objectOf(value[at]), depth);
  } else if (step.kind === "child") {
    writeElement(step, objectOf(value), depth);
  } else if (step.kind === "leaf") {
    out += openingAt(step, depth);
    out += textOf(value);
    out += step.end;
  } else if (value === true) {
    out += openingAt(step, depth);
  } else {
    throw new UnwritableError("is not true");
  }
}

function writeExtraAttributes(
  attributes: Readonly<Record<string, string>>,
  open: boolean,
): boolean {
  let opened = open;
  for (const [name, value] of Object.entries(attributes)) {
    requireName(name);
    out += `${opened ? '"' : ""} ${name}="${attributeOf(value)}`;
    opened = true;
  }
  return opened;
}

function writeExtraElement(element: XmlElement, depth: number): void {
  const { name, children = [] } = element;
  const indent = `\n${"  ".repeat(depth)}`;
  out += indent;
  writeExtraTag(element, children.length === 0 ? "/>" : ">");
  if (children.length === 0) return;
  // White space is content where text is: such an element stays on one line.
  const inline = children.some((child) => typeof child === "string");
  for (const child of children) {
    if (inline) writeInline(child);
    else writeExtraElement(child as XmlElement, depth + 1);
  }
  out += inline ? `</${name}>` : `${indent}</${name}>`;
}

function writeInline(node: XmlElement | string): void {
  if (typeof node === "string") {
    out += escapeText(node);
    return;
  }
  writeExtraTag(node, ">");
  for (const child of node.children ?? []) writeInline(child);
  out += `</${node.name}>`;
}

function writeExtraTag({ name, attributes }: XmlElement, end: string): void {
  requireName(name);
  out += `<${name}`;
  if (attributes && writeExtraAttributes(attributes, false)) out += '"';
  out += end;
}

function requireName(name: string): void {
  if (!isXmlName(name)) throw new UnwritableError("is no XML name");
}

function attributeOf(value: unknown): string | number | bigint {
  return typeof value === "string" ? escapeAttribute(value) : wholeNumber(value);
}

function textOf(value: unknown): string | number | bigint {
  return typeof value === "string" ? escapeText(value) : wholeNumber(value);
}

function scalarOf(value: unknown): string | number | bigint {
  return typeof value === "string" ? value : wholeNumber(value);
}

function wholeNumber(value: unknown): number | bigint {
  if (Number.isSafeInteger(value) || typeof value === "bigint") return value as number | bigint;
  throw new UnwritableError("is neither a string nor a whole number");
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new UnwritableError("is not an object");
}
