import type { AnyElementType, AnyField } from "../model/element.ts";

/** An element type with everything that is known before there is a domain. */
export interface WritePlan {
  /** Attributes first. */
  readonly fields: FieldStep[];
  /** Their properties, for a fast search. */
  readonly keys: string[];
  /** Whether one of them is the element's text; there are then no children. */
  hasText: boolean;
}

/** How a property is written. */
export type FieldStep = AttributeStep | ContentStep;

/** A property that becomes an attribute. */
interface AttributeStep extends Parts {
  readonly kind: "attribute";
}

/** A property that becomes something between the tags. */
export type ContentStep = PlainStep | ElementStep;

/** A property that becomes the text of its element, or an element without attributes or children. */
interface PlainStep extends Parts {
  readonly kind: "text" | "leaf" | "flag";
}

/** A property that becomes an element, or several. */
export interface ElementStep extends Parts {
  readonly kind: "child" | "children";
  readonly plan: WritePlan;
}

/** What all steps have, so that they are objects of one shape, which are read fastest. */
interface Parts {
  readonly key: string;
  readonly name: string;
  readonly plan: WritePlan | undefined;
  /** What precedes an attribute after another one, whose quote is still open: `" name="`. */
  readonly next: string;
  /** Tags without attributes, by depth, of elements with content and without, by {@link tagAt}. */
  readonly opening: string[];
  readonly empty: string[];
  /** Opening tags up to the value of the first attribute, by {@link attributeStart}. */
  readonly start: string[];
  /** Closing tags, by depth, by {@link closingAt}. */
  readonly closing: string[];
  /** Closing tag on the same line. */
  readonly end: string;
}

const plans = new Map<AnyElementType, WritePlan>();

/** The plan for an element type, created once. */
export function writePlan(type: AnyElementType): WritePlan {
  const known = plans.get(type);
  if (known) return known;
  const plan: WritePlan = { fields: [], keys: [], hasText: false };
  // Before its fields, which may lead back to this type.
  plans.set(type, plan);
  for (const [key, field] of type.fields) {
    if (field.kind === "text") plan.hasText = true;
    plan.fields.push(fieldStep(key, field));
  }
  plan.fields.sort((a, b) => Number(b.kind === "attribute") - Number(a.kind === "attribute"));
  plan.keys.push(...plan.fields.map(({ key }) => key));
  return plan;
}

function fieldStep(key: string, field: AnyField): FieldStep {
  const name = "name" in field ? (field.name ?? key) : key;
  if ("element" in field) return elementStep(field.kind, key, name, field.element);
  return { kind: field.kind, ...parts(key, name, undefined) };
}

/** How the element of a type is written. */
export function elementStep(
  kind: ElementStep["kind"],
  key: string,
  name: string,
  type: AnyElementType,
): ElementStep {
  const plan = writePlan(type);
  return { kind, ...parts(key, name, plan), plan };
}

function parts(key: string, name: string, plan: WritePlan | undefined): Parts {
  const next = joined('" ', name, '="');
  const end = joined("</", name, ">");
  return { key, name, plan, next, opening: [], empty: [], start: [], closing: [], end };
}

/** A tag without attributes at a depth, with the line break and indent before it. */
export function tagAt(step: ContentStep, depth: number, end: ">" | "/>"): string {
  const tags = end === ">" ? step.opening : step.empty;
  const known = tags[depth];
  if (known !== undefined) return known;
  const made = joined(indentAt(depth), "<", step.name, end);
  tags[depth] = made;
  return made;
}

/** What precedes the value of attribute number `at`; for the first present one, including the opening tag. */
export function attributeStart(
  step: ElementStep,
  at: number,
  depth: number,
  first: boolean,
): string {
  const { fields } = step.plan;
  const field = fields[at] as AttributeStep;
  if (!first) return field.next;
  const place = depth * fields.length + at;
  const known = step.start[place];
  if (known !== undefined) return known;
  const made = joined(indentAt(depth), "<", step.name, " ", field.name, '="');
  step.start[place] = made;
  return made;
}

/** The closing tag at a depth; with a line break and indent before it, unless the type has text. */
export function closingAt(step: ElementStep, depth: number): string {
  const known = step.closing[depth];
  if (known !== undefined) return known;
  const made = step.plan.hasText ? step.end : joined(lineBreak(depth), step.end);
  step.closing[depth] = made;
  return made;
}

/** What precedes a tag; the first one begins the document. */
function indentAt(depth: number): string {
  return depth === 0 ? "" : lineBreak(depth);
}

function lineBreak(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}

/** As a template would, but in one piece: a sum of strings stays a tree, which is slow to copy. */
function joined(...pieces: string[]): string {
  return pieces.join("");
}
