import type { XmlElement, XmlExtra } from "../model/extensible.ts";
import { isImplied } from "./implied.ts";
import type { ElementStep, FieldStep, WritePlan } from "./write-plan.ts";
import { scalarOf, UnwritableError } from "./xml-value.ts";

/** An object of the model as the element that it is, with what the model does not know. */
export function toTree({ name, plan }: ElementStep, value: object): XmlElement {
  const object = value as Record<string, unknown>;
  const extra = (object["extra"] ?? {}) as XmlExtra;
  const attributes: Record<string, string> = {};
  const children: (XmlElement | string)[] = [];
  for (const field of writtenFields(plan, object, extra)) {
    const found = object[field.key];
    if (field.kind === "attribute") attributes[field.name] = scalarOf(found);
    else children.push(...childrenOf(field, found, extra));
  }
  children.push(...(extra.children ?? []));
  // What the model says of an attribute holds.
  return { name, attributes: { ...attributes, ...extra.attributes, ...attributes }, children };
}

/** The fields that have a value; where there is a text, that is all there is inside. */
function writtenFields(
  { fields, text }: WritePlan,
  object: Record<string, unknown>,
  { implied = [] }: XmlExtra,
): FieldStep[] {
  const there = (key: string): boolean =>
    object[key] !== undefined && !(implied.includes(key) && isImplied(object[key]));
  const onlyText = text !== undefined && there(text);
  return fields.filter(
    ({ kind, key }) => there(key) && (!onlyText || kind === "attribute" || kind === "text"),
  );
}

function childrenOf(field: FieldStep, value: unknown, extra: XmlExtra): (XmlElement | string)[] {
  switch (field.kind) {
    case "attribute":
    case "text":
      return [scalarOf(value)];
    case "children":
      return listOf(value).map((item) => toTree(field, objectOf(item)));
    case "child":
      return [toTree(field, objectOf(value))];
    case "leaf":
      return [{ ...extra.inner?.[field.key], name: field.name, children: [scalarOf(value)] }];
    case "flag":
      if (value !== true) throw new UnwritableError("is not true");
      return [{ ...extra.inner?.[field.key], name: field.name }];
  }
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
