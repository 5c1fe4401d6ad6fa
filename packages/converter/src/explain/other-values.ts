import type { SchemaNode } from "@virtkit/api/schema";

/** More would cost time and find little more. */
const maxKnown = 3;

/** Values that a field could have instead of its own; `undefined` removes it. */
export function otherValues(value: unknown, schema: SchemaNode | undefined): unknown[] {
  switch (typeof value) {
    case "boolean":
      return [undefined, !value];
    case "number":
      return [undefined, value + 1, 0];
    case "bigint":
      return [undefined, value + 1n];
    case "string":
      return [...new Set([undefined, ...knownValues(schema), nextText(value)])].filter(
        (other) => other !== value,
      );
    default:
      return Array.isArray(value) ? otherLists(value) : [undefined];
  }
}

function otherLists(list: readonly unknown[]): unknown[] {
  return list.length < 2 ? [undefined] : [undefined, list.slice(1), list.slice(0, -1)];
}

/** Values for a missing field; none if nothing likely is known. */
export function likelyValues(schema: SchemaNode | undefined): unknown[] {
  switch (schema?.kind) {
    case "boolean":
      return [true, false];
    case "integer":
      return [1, 2];
    case "quantity":
      return ["3Gi"];
    case "string":
      return schema.known ? knownValues(schema) : ["x"];
    case "object":
      return [{}];
    default:
      return [];
  }
}

function knownValues(schema: SchemaNode | undefined): string[] {
  return schema?.kind === "string" ? (schema.known ?? []).slice(0, maxKnown) : [];
}

/** Numbers with something between them: addresses of all kinds, UUIDs. */
const address = /^[0-9a-f]+([:.-][0-9a-f]+)+$/i;

/**
 * Another text of the same kind: a flag inverted, the next number or quantity, an address with its last digit
 * changed, or a longer, unique name.
 */
function nextText(text: string): string {
  if (text === "true") return "false";
  if (/^\d{1,15}\D*$/.test(text)) return text.replace(/^\d+/, (digits) => `${Number(digits) + 1}`);
  if (!address.test(text)) return `${text}x`;
  return text.replace(/.$/, (last) => (/[0-8a-e]/i.test(last) ? next(last) : "0"));
}

function next(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + 1);
}

/** The schema at a path within another one. */
export function schemaAt(
  schema: SchemaNode | undefined,
  path: readonly (string | number)[],
): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>((node, step) => inner(node, step), schema);
}

function inner(schema: SchemaNode | undefined, step: string | number): SchemaNode | undefined {
  switch (schema?.kind) {
    case "object":
      return schema.fields.get(String(step))?.schema;
    case "array":
      return schema.items;
    case "map":
      return schema.values;
    case "nullable":
      return inner(schema.inner, step);
    default:
      return undefined;
  }
}
