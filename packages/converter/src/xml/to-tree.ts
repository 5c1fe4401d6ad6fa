import type { XmlElement, XmlExtra } from "../model/extensible.ts";
import { isImplied } from "./implied.ts";
import type { ContentStep, ElementStep } from "./write-plan.ts";
import { listOf, objectOf, scalarOf, UnwritableError } from "./xml-value.ts";

/** An object of the model as an element, including its unknown parts. */
export function toTree({ name, plan }: ElementStep, value: object): XmlElement {
  const object = value as Record<string, unknown>;
  const extra = (object["extra"] ?? {}) as XmlExtra;
  const attributes: Record<string, string> = {};
  const children: (readonly (XmlElement | string)[])[] = [];
  for (const field of plan.fields) {
    const found = object[field.key];
    if (found === undefined || isLeftOut(field.key, found, extra)) continue;
    if (field.kind === "attribute") attributes[field.name] = scalarOf(found);
    else children.push(childrenOf(field, found, extra));
  }
  children.push(extra.children ?? []);
  return {
    name,
    // The model's value of an attribute takes precedence.
    attributes: { ...attributes, ...extra.attributes, ...attributes },
    children: children.flat(),
  };
}

/** Whether the parser filled it in and nobody has changed it since. */
function isLeftOut(key: string, value: unknown, { implied }: XmlExtra): boolean {
  return Boolean(implied?.includes(key)) && isImplied(value);
}

function childrenOf(
  field: ContentStep,
  value: unknown,
  extra: XmlExtra,
): readonly (XmlElement | string)[] {
  switch (field.kind) {
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
