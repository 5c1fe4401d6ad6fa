import { escapeAttribute, escapeText } from "./escape-xml.ts";

/** A value of the wrong type, or an invalid name; the writer adds its place. */
export class UnwritableError extends Error {
  override readonly name = "UnwritableError";
}

/** What a value is between the quotes of an attribute. */
export function attributeOf(value: unknown): string {
  return typeof value === "string" ? escapeAttribute(value) : wholeNumber(value);
}

/** What a value is as the text of an element. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? escapeText(value) : wholeNumber(value);
}

/** A string or a whole number as it is, without escapes. */
export function scalarOf(value: unknown): string {
  return typeof value === "string" ? value : wholeNumber(value);
}

function wholeNumber(value: unknown): string {
  if (Number.isSafeInteger(value) || typeof value === "bigint") return String(value);
  throw new UnwritableError("is neither a string nor a whole number");
}

/** What a property must hold that is an element. */
export function objectOf(value: unknown): object {
  if (typeof value === "object" && value !== null) return value;
  throw new UnwritableError("is not an object");
}

/** What a property must hold that is any number of elements. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new UnwritableError("is not a list");
}
