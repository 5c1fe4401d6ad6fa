import { quote } from "../../../schema/issue.ts";
import { isObject, isSet, type JsonObject } from "../../../shape.ts";
import { badRequest, type Refusal } from "../outcome.ts";

/** What a field of a body must be. */
export type OptionType = "boolean" | "whole number" | "string" | "list" | "object";

/**
 * The options in a body: JSON, or the result of `parse`. An empty body sets nothing. Unknown fields are
 * ignored; one of another type is refused.
 */
export function readOptions(
  body: string,
  fields: Readonly<Record<string, OptionType>>,
  parse: ((text: string) => unknown) | undefined,
): Refusal | { readonly options: JsonObject } {
  if (body.trim() === "") return { options: {} };
  let value: unknown;
  try {
    value = parsed(body, parse) ?? {};
  } catch (error) {
    return badRequest(`the body cannot be read: ${(error as Error).message.slice(0, 200)}`);
  }
  if (!isObject(value)) return badRequest(`the body is a ${nameOf(value)}; send an object`);
  for (const [field, type] of Object.entries(fields)) {
    const found = Object.hasOwn(value, field) ? value[field] : undefined;
    if (!isSet(found) || hasType(found, type)) continue;
    return badRequest(`${field} of the body is a ${nameOf(found)}; use a ${type}`);
  }
  return { options: value };
}

function parsed(body: string, parse: ((text: string) => unknown) | undefined): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (!parse) throw error;
    return parse(body);
  }
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return `number (${value})`;
  return typeof value === "string" ? `string (${quote(value.slice(0, 80))})` : typeof value;
}

function hasType(value: unknown, type: OptionType): boolean {
  switch (type) {
    case "whole number":
      return Number.isInteger(value);
    case "list":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}
