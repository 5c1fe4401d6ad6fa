import type { AnyField } from "../model/element.ts";
import { readPlan } from "./read-plan.ts";

/** The value of a required property that a document lacks. */
export function impliedValue(field: AnyField): unknown {
  switch (field.kind) {
    case "children":
      return [];
    case "child":
      return impliedElement(field);
    case "flag":
      return true;
    default:
      return field.type === "string" ? "" : 0;
  }
}

function impliedElement(field: AnyField & { kind: "child" }): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  const implied: string[] = [];
  for (const { key, field: inner } of readPlan(field.element).steps) {
    if (!inner.required) continue;
    value[key] = impliedValue(inner);
    if (inner.kind !== "children") implied.push(key);
  }
  if (implied.length > 0) value["extra"] = { implied };
  return value;
}

/** Whether a value is still the one from {@link impliedValue}, all the way down. */
export function isImplied(value: unknown): boolean {
  if (typeof value !== "object" || value === null) {
    return value === undefined || value === "" || value === 0;
  }
  if (Array.isArray(value)) return value.length === 0;
  const { extra, ...own } = value as Record<string, unknown> & { extra?: object };
  if (Object.keys(extra ?? {}).some((key) => key !== "implied")) return false;
  return Object.values(own).every(isImplied);
}
