import { type Domain, domainElement } from "./model/domain.ts";
import type { AnyElementType, AnyField } from "./model/element.ts";
import { findUnwritable, type Unwritable } from "./xml/find-unwritable.ts";

/** What every domain has. */
const required = ["type", "name", "metadata", "memory", "os", "cpu", "devices"] as const;

/** Deeper than any domain; stops at a cyclic object. */
const maxDepth = 100;

/**
 * Where a value is not a valid domain: not an object, without what every domain has, with an unknown property
 * (which would be lost on writing), or with a value that cannot be written. `undefined` if it is valid.
 */
export function findDomainProblem(value: unknown): Unwritable | undefined {
  if (typeof value !== "object" || value === null) {
    return { path: "", message: `is ${value === null ? "null" : typeof value}, not an object` };
  }
  const missing = required.find((key) => (value as Partial<Domain>)[key] === undefined);
  if (missing !== undefined) return { path: missing, message: "is missing" };
  try {
    return findUnknown(domainElement, value, "", 0) ?? findUnwritable(value as Domain);
  } catch (error) {
    return { path: "", message: `cannot be read: ${(error as Error).message}` };
  }
}

function findUnknown(
  type: AnyElementType,
  value: object,
  path: string,
  depth: number,
): Unwritable | undefined {
  if (depth > maxDepth) return { path, message: "is nested too deeply" };
  const fields = new Map(type.fields);
  for (const [key, child] of Object.entries(value)) {
    if (child === undefined || (key === "extra" && isTree(child, 0))) continue;
    const here = path === "" ? key : `${path}.${key}`;
    const field = fields.get(key);
    if (!field) {
      const message =
        key === "extra" ? "is nested too deeply" : "is not in the model; put it into `extra`";
      return { path: here, message };
    }
    const problem = findUnknownIn(field, child, here, depth);
    if (problem) return problem;
  }
  return undefined;
}

function findUnknownIn(
  field: AnyField,
  value: unknown,
  path: string,
  depth: number,
): Unwritable | undefined {
  if (!("element" in field)) return undefined;
  const items = Array.isArray(value) ? value : [value];
  for (const [at, item] of items.entries()) {
    if (typeof item !== "object" || item === null) continue;
    const here = Array.isArray(value) ? `${path}[${at}]` : path;
    const problem = findUnknown(field.element, item, here, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** Whether unknown parts are finite. */
function isTree(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth < maxDepth && Object.values(value).every((child) => isTree(child, depth + 1));
}
