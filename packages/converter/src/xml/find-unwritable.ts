import { type Domain, domainElement } from "../model/domain.ts";
import type { AnyElementType, AnyField } from "../model/element.ts";
import type { XmlElement, XmlExtra } from "../model/extensible.ts";
import { escapeAttribute } from "./escape-xml.ts";
import { isXmlName } from "./xml-name.ts";

/** Where a domain cannot be written, and why. */
export interface Unwritable {
  /** Path in the model: `devices.disks[0].serial`. */
  readonly path: string;
  readonly message: string;
}

/** The first value of a domain that XML cannot hold; `undefined` if all of it can be written. */
export function findUnwritable(domain: Domain): Unwritable | undefined {
  return inElement(domainElement, domain, "");
}

function inElement(type: AnyElementType, value: unknown, path: string): Unwritable | undefined {
  if (typeof value !== "object" || value === null) {
    return { path, message: `must be an object, but is ${describe(value)}` };
  }
  const record = value as Record<string, unknown>;
  for (const [key, field] of type.fields) {
    const found = record[key];
    if (found === undefined) continue;
    const problem = inField(field, found, path === "" ? key : `${path}.${key}`);
    if (problem) return problem;
  }
  return inExtra(record["extra"] as XmlExtra | undefined, `${path}.extra`);
}

function inField(field: AnyField, value: unknown, path: string): Unwritable | undefined {
  switch (field.kind) {
    case "attribute":
    case "text":
    case "leaf":
      return inScalar(value, path);
    case "flag":
      return value === true ? undefined : { path, message: `must be true or missing` };
    case "child":
      return inElement(field.element, value, path);
    case "children":
      return inList(field.element, value, path);
  }
}

function inList(type: AnyElementType, value: unknown, path: string): Unwritable | undefined {
  if (!Array.isArray(value)) {
    return { path, message: `must be a list, but is ${describe(value)}` };
  }
  for (const [at, item] of value.entries()) {
    const problem = inElement(type, item, `${path}[${at}]`);
    if (problem) return problem;
  }
  return undefined;
}

function inScalar(value: unknown, path: string): Unwritable | undefined {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return undefined;
  if (typeof value !== "string") {
    return { path, message: `must be a string or a whole number, but is ${describe(value)}` };
  }
  try {
    escapeAttribute(value);
    return undefined;
  } catch (error) {
    return { path, message: (error as Error).message };
  }
}

function inExtra(extra: XmlExtra | undefined, path: string): Unwritable | undefined {
  if (!extra) return undefined;
  for (const [key, inner] of Object.entries(extra.inner ?? {})) {
    const problem = inTree(inner.attributes, inner.children, `${path}.inner.${key}`);
    if (problem) return problem;
  }
  return inTree(extra.attributes, extra.children, path);
}

function inTree(
  attributes: Readonly<Record<string, string>> = {},
  children: readonly (XmlElement | string)[] = [],
  path = "",
): Unwritable | undefined {
  for (const [name, value] of Object.entries(attributes)) {
    const problem = inName(name, path) ?? inScalar(value, `${path}.${name}`);
    if (problem) return problem;
  }
  for (const [at, child] of children.entries()) {
    const here = `${path}[${at}]`;
    const problem =
      typeof child === "string"
        ? inScalar(child, here)
        : (inName(child.name, here) ?? inTree(child.attributes, child.children, here));
    if (problem) return problem;
  }
  return undefined;
}

function inName(name: string, path: string): Unwritable | undefined {
  if (isXmlName(name)) return undefined;
  return { path, message: `${JSON.stringify(name)} is not an XML name` };
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "number" ? String(value) : `a ${typeof value}`;
}
