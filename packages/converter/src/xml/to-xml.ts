import { ConverterError } from "../converter-error.ts";
import { type DomainDevices, devicesElement } from "../model/devices.ts";
import { type Domain, domainElement } from "../model/domain.ts";
import type { XmlElement, XmlExtra, XmlInner } from "../model/extensible.ts";
import { XmlCharacterError } from "./escape-xml.ts";
import { addExtraAttributes, addExtraChild, addInline } from "./extra-xml.ts";
import { findUnwritable } from "./find-unwritable.ts";
import { isImplied } from "./implied.ts";
import {
  type AttributeStep,
  type ContentStep,
  closingAt,
  contentStep,
  openingAt,
  startAt,
  type WritePlan,
  writePlan,
} from "./write-plan.ts";
import { attributeOf, scalarOf, textOf, UnwritableError } from "./xml-value.ts";

let root: ContentStep | undefined;

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
  try {
    return `${addElement("", root, domain, 0)}\n`;
  } catch (cause) {
    throw explain(cause, domain);
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
  try {
    const xml =
      list === "other"
        ? addExtraChild("", device as XmlElement, 0)
        : addElement("", deviceStep(list), device, 0);
    return `${xml.trimStart()}\n`;
  } catch (cause) {
    if (!(cause instanceof XmlCharacterError) && !(cause instanceof UnwritableError)) throw cause;
    throw new ConverterError("CONVERTER_XML_INVALID", cause.message, { cause, path: list });
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

/*
 * Everything below takes the document so far and returns it with something added. One string that
 * grows, handed from call to call, is the fastest way to build it: a variable that all of them
 * change takes a tenth longer, and pieces that are joined at the end gain nothing.
 */

function addElement(before: string, step: ContentStep, value: unknown, depth: number): string {
  const plan = step.plan as WritePlan;
  const whole = objectOf(value);
  const extra = whole["extra"] as XmlExtra | undefined;
  const written = extra?.implied ? withoutImplied(whole, extra.implied) : whole;
  let tag = addStart(before, step, plan.attributes, written, depth);
  // The quote of the last attribute is still open: it is part of whatever comes next.
  let bare = tag === before;
  if (bare) tag += openingAt(step, depth);
  if (extra?.attributes) {
    tag = addExtraAttributes(bare ? tag : `${tag}"`, extra.attributes);
    bare = true;
  }
  const text = plan.text === undefined ? undefined : written[plan.text];
  if (text !== undefined) {
    const start = tag + (bare ? ">" : '">') + textOf(text);
    return (extra?.children ? addInline(start, extra.children) : start) + step.end;
  }
  const content = addContent(tag, bare ? ">" : '">', plan, written, depth + 1, extra);
  if (content !== tag) return content + closingAt(step, depth);
  return tag + (bare ? "/>" : '"/>');
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

/** Adds the opening tag and its attributes; nothing at all if there are none. */
function addStart(
  before: string,
  step: ContentStep,
  attributes: readonly AttributeStep[],
  value: Record<string, unknown>,
  depth: number,
): string {
  let out = before;
  for (let at = 0; at < attributes.length; at++) {
    const attribute = attributes[at] as AttributeStep;
    const found = value[attribute.key];
    if (found === undefined) continue;
    out += out === before ? startAt(step, attributes, depth, at) : attribute.next;
    out += attributeOf(found);
  }
  return out;
}

/** Ends the opening tag before the first child; returns the tag as it is if there is none. */
function addContent(
  tag: string,
  end: string,
  plan: WritePlan,
  value: Record<string, unknown>,
  depth: number,
  extra: XmlExtra | undefined,
): string {
  let out = tag;
  const steps = plan.content;
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as ContentStep;
    const found = value[step.key];
    if (found === undefined || (step.kind === "children" && isEmptyList(found))) continue;
    if (out === tag) out += end;
    out = addStep(out, step, found, depth, extra);
  }
  if (!extra?.children?.length) return out;
  if (out === tag) out += end;
  for (const child of extra.children) out = addExtraChild(out, child, depth);
  return out;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function addStep(
  before: string,
  step: ContentStep,
  value: unknown,
  depth: number,
  extra: XmlExtra | undefined,
): string {
  if (step.kind === "children") return addElements(before, step, value, depth);
  if (step.kind === "child") return addElement(before, step, value, depth);
  const inner = extra?.inner?.[step.key];
  if (inner) return addInner(before, step, value, inner, depth);
  if (step.kind === "leaf") return before + openingAt(step, depth) + textOf(value) + step.end;
  if (value === true) return before + openingAt(step, depth);
  throw new UnwritableError("is not true");
}

function addElements(before: string, step: ContentStep, list: unknown, depth: number): string {
  if (!Array.isArray(list)) throw new UnwritableError("is not a list");
  let out = before;
  for (let at = 0; at < list.length; at++) out = addElement(out, step, list[at], depth);
  return out;
}

/** A leaf or flag that has more than its value. */
function addInner(
  before: string,
  step: ContentStep,
  value: unknown,
  inner: XmlInner,
  depth: number,
): string {
  if (step.kind === "flag" && value !== true) throw new UnwritableError("is not true");
  const children = step.kind === "flag" ? inner.children : [scalarOf(value)];
  const element = { name: step.name, attributes: inner.attributes, children };
  return addExtraChild(before, element, depth);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new UnwritableError("is not an object");
}
