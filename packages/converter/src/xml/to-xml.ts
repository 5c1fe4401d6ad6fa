import { ConverterError } from "../converter-error.ts";
import { type Domain, domainElement } from "../model/domain.ts";
import type { XmlElement, XmlExtra } from "../model/extensible.ts";
import { escapeAttribute, escapeText, XmlCharacterError } from "./escape-xml.ts";
import { findUnwritable } from "./find-unwritable.ts";
import {
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
  const writer = new Writer();
  try {
    writer.element(root, domain as unknown as Record<string, unknown>, 0);
  } catch (cause) {
    throw explain(cause, domain);
  }
  return `${writer.out}\n`;
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

class Writer {
  out = "";

  element(step: ContentStep, value: Record<string, unknown>, depth: number): void {
    const plan = step.plan as WritePlan;
    this.out += openingAt(step, depth);
    const open = this.attributes(plan, value);
    const text = plan.text === undefined ? undefined : value[plan.text];
    if (text !== undefined) {
      this.out += `${open ? '">' : ">"}${textOf(text)}${step.end}`;
      return;
    }
    const before = this.out;
    this.out += open ? '">' : ">";
    const start = this.out.length;
    this.content(plan, value, depth + 1);
    if (this.out.length === start) this.out = before + (open ? '"/>' : "/>");
    else this.out += closingAt(step, depth);
  }

  /** Whether any was written; the quote of the last one is still open then. */
  attributes(plan: WritePlan, value: Record<string, unknown>): boolean {
    let open = false;
    const steps = plan.attributes;
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at] as (typeof steps)[number];
      const found = value[step.key];
      if (found === undefined) continue;
      this.out += (open ? step.next : step.first) + attributeOf(found);
      open = true;
    }
    const extra = value["extra"] as XmlExtra | undefined;
    if (extra?.attributes) open = this.extraAttributes(extra.attributes, open);
    return open;
  }

  content(plan: WritePlan, value: Record<string, unknown>, depth: number): void {
    const steps = plan.content;
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at] as ContentStep;
      const found = value[step.key];
      if (found !== undefined) this.step(step, found, depth);
    }
    const extra = value["extra"] as XmlExtra | undefined;
    if (extra?.children) for (const child of extra.children) this.extraElement(child, depth);
  }

  step(step: ContentStep, value: unknown, depth: number): void {
    if (step.kind === "children") {
      if (!Array.isArray(value)) throw new UnwritableError("is not a list");
      for (let at = 0; at < value.length; at++) this.element(step, objectOf(value[at]), depth);
    } else if (step.kind === "child") {
      this.element(step, objectOf(value), depth);
    } else if (step.kind === "leaf") {
      this.out += `${openingAt(step, depth)}>${textOf(value)}${step.end}`;
    } else if (value === true) {
      this.out += `${openingAt(step, depth)}/>`;
    } else {
      throw new UnwritableError("is not true");
    }
  }

  extraAttributes(attributes: Readonly<Record<string, string>>, open: boolean): boolean {
    let opened = open;
    for (const [name, value] of Object.entries(attributes)) {
      if (!isXmlName(name)) throw new UnwritableError("is no XML name");
      this.out += `${opened ? '"' : ""} ${name}="${attributeOf(value)}`;
      opened = true;
    }
    return opened;
  }

  extraElement({ name, attributes, children = [] }: XmlElement, depth: number): void {
    if (!isXmlName(name)) throw new UnwritableError("is no XML name");
    const indent = `\n${"  ".repeat(depth)}`;
    this.out += `${indent}<${name}`;
    if (attributes && this.extraAttributes(attributes, false)) this.out += '"';
    if (children.length === 0) {
      this.out += "/>";
      return;
    }
    this.out += ">";
    // White space is content where text is: such an element stays on one line.
    const inline = children.some((child) => typeof child === "string");
    for (const child of children) {
      if (typeof child === "string") this.out += escapeText(child);
      else if (inline) this.inlineElement(child);
      else this.extraElement(child, depth + 1);
    }
    this.out += inline ? `</${name}>` : `${indent}</${name}>`;
  }

  inlineElement({ name, attributes, children = [] }: XmlElement): void {
    if (!isXmlName(name)) throw new UnwritableError("is no XML name");
    this.out += `<${name}`;
    if (attributes && this.extraAttributes(attributes, false)) this.out += '"';
    this.out += ">";
    for (const child of children) {
      if (typeof child === "string") this.out += escapeText(child);
      else this.inlineElement(child);
    }
    this.out += `</${name}>`;
  }
}

function attributeOf(value: unknown): string | number | bigint {
  return typeof value === "string" ? escapeAttribute(value) : wholeNumber(value);
}

function textOf(value: unknown): string | number | bigint {
  return typeof value === "string" ? escapeText(value) : wholeNumber(value);
}

function wholeNumber(value: unknown): number | bigint {
  if (Number.isSafeInteger(value) || typeof value === "bigint") return value as number | bigint;
  throw new UnwritableError("is neither a string nor a whole number");
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new UnwritableError("is not an object");
}
