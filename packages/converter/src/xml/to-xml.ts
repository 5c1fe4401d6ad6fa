import { ConverterError } from "../converter-error.ts";
import { type DomainDevices, devicesElement } from "../model/devices.ts";
import { type Domain, domainElement } from "../model/domain.ts";
import type { XmlElement } from "../model/extensible.ts";
import { addTree } from "./add-tree.ts";
import { XmlCharacterError } from "./escape-xml.ts";
import { findUnwritable } from "./find-unwritable.ts";
import { toTree } from "./to-tree.ts";
import {
  attributeStart,
  type ContentStep,
  closingAt,
  type ElementStep,
  elementStep,
  tagAt,
  writePlan,
} from "./write-plan.ts";
import { attributeOf, listOf, objectOf, textOf, UnwritableError } from "./xml-value.ts";

let root: ElementStep | undefined;

/**
 * Writes a domain as XML for libvirt: indented by two spaces, UTF-8, with a line break at the end, without an XML
 * declaration. Properties that are `undefined` or not enumerable are omitted; empty strings are written.
 *
 * @throws ConverterError `CONVERTER_XML_INVALID` with the path in the domain, if a value contains a character that
 * XML cannot express, is not a string or whole number where one is required, or if `extra` has an invalid name.
 * Nothing is written then.
 *
 * @example
 * ```ts
 * const xml = toXml(convert(vmi, context));
 * ```
 */
export function toXml(domain: Domain): string {
  root ??= elementStep("child", "", "domain", domainElement);
  try {
    return `${addElement("", root, objectOf(domain), 0)}\n`;
  } catch (cause) {
    throw explain(cause, domain);
  }
}

/** Lists of devices that can be plugged in and out while a guest runs. */
export type DeviceList = "disks" | "interfaces" | "hostDevices";

/**
 * Writes one device as XML, so that libvirt can plug it in, unplug it or change it. A device that the model has no
 * type for is written unchanged.
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
        ? addTree("", objectOf(device) as XmlElement, 0)
        : addElement("", deviceStep(list), objectOf(device), 0);
    return `${xml}\n`;
  } catch (cause) {
    if (!(cause instanceof XmlCharacterError) && !(cause instanceof UnwritableError)) throw cause;
    throw new ConverterError("CONVERTER_XML_INVALID", cause.message, { cause, path: list });
  }
}

function deviceStep(list: DeviceList): ElementStep {
  return writePlan(devicesElement).fields.find(({ key }) => key === list) as ElementStep;
}

/** The path is determined only once something is wrong, so that writing need not track it. */
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
 * Everything below takes the document so far and returns it with something added. One growing string, passed
 * from call to call, is the fastest way to build it: a shared variable takes a tenth longer, and joining pieces
 * at the end gains nothing.
 */

/**
 * Walks the object and the plan of its type in parallel, so that only present properties are read. An object
 * with another order, or with unknown properties, takes the slower way through a tree.
 */
function addElement(before: string, step: ElementStep, value: object, depth: number): string {
  const { fields, keys } = step.plan;
  let out = before;
  let inside = false;
  let at = 0;
  for (const key in value) {
    const found = (value as Record<string, unknown>)[key];
    if (found === undefined) continue;
    at = placeFrom(at, keys, key);
    const field = fields[at];
    if (field === undefined) return addTree(before, toTree(step, value), depth);
    if (field.kind === "attribute") {
      out += attributeStart(step, at, depth, out === before);
      out += attributeOf(found);
    } else if (field.kind !== "children" || !isEmptyList(found)) {
      const open = inside ? out : endTag(before, out, step, depth, ">");
      out = addContent(open, field, found, depth + 1);
      inside = true;
    }
  }
  return inside ? out + closingAt(step, depth) : endTag(before, out, step, depth, "/>");
}

/** The position of a property in a plan, searched from a position on; past the last if it is missing. */
function placeFrom(from: number, keys: readonly string[], key: string): number {
  let at = from;
  while (at < keys.length && keys[at] !== key) at++;
  return at;
}

/** The opening tag with its end; the quote of the last attribute, if there is one, is still open. */
function endTag(
  before: string,
  tag: string,
  step: ElementStep,
  depth: number,
  end: ">" | "/>",
): string {
  if (tag === before) return tag + tagAt(step, depth, end);
  return tag + (end === ">" ? '">' : '"/>');
}

function addContent(before: string, field: ContentStep, value: unknown, depth: number): string {
  switch (field.kind) {
    case "child":
      return addElement(before, field, objectOf(value), depth);
    case "children":
      return addElements(before, field, listOf(value), depth);
    case "leaf":
      return before + tagAt(field, depth, ">") + textOf(value) + field.end;
    case "text":
      return before + textOf(value);
    case "flag":
      if (value === true) return before + tagAt(field, depth, "/>");
      throw new UnwritableError("is not true");
  }
}

function addElements(
  before: string,
  step: ElementStep,
  list: readonly unknown[],
  depth: number,
): string {
  let out = before;
  for (let at = 0; at < list.length; at++) out = addElement(out, step, objectOf(list[at]), depth);
  return out;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
