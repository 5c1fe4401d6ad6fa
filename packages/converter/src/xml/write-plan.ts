import type { AnyElementType, AnyField } from "../model/element.ts";

/** An attribute, with the characters that precede its value. */
export interface AttributeStep {
  readonly key: string;
  readonly name: string;
  /** After another one, whose quote is still open: `" name="`. */
  readonly next: string;
}

/** Something between the tags. */
export interface ContentStep {
  readonly kind: "leaf" | "flag" | "child" | "children";
  readonly key: string;
  readonly name: string;
  /** How the child is written, if it is an object. */
  readonly plan: WritePlan | undefined;
  /** Line break, indent and opening tag, by depth; without its end if it may have attributes. */
  readonly opening: string[];
  /** The same up to the value of the first attribute, by {@link startAt}. */
  readonly start: string[];
  /** Line break, indent and closing tag, by depth. */
  readonly closing: string[];
  /** Closing tag on the same line. */
  readonly end: string;
}

/** An element type with everything that can be known before a domain is. */
export interface WritePlan {
  readonly attributes: AttributeStep[];
  /** Property that is the element's text. */
  text: string | undefined;
  readonly content: ContentStep[];
}

const plans = new Map<AnyElementType, WritePlan>();

/** The plan for an element type, made once. */
export function writePlan(type: AnyElementType): WritePlan {
  const known = plans.get(type);
  if (known) return known;
  const plan: WritePlan = { attributes: [], text: undefined, content: [] };
  // Before its fields, which may lead back to this type.
  plans.set(type, plan);
  for (const [key, field] of type.fields) addField(plan, key, field);
  return plan;
}

function addField(plan: WritePlan, key: string, field: AnyField): void {
  if (field.kind === "text") {
    plan.text = key;
    return;
  }
  const name = field.name ?? key;
  if (field.kind === "attribute") {
    plan.attributes.push({ key, name, next: joined('" ', name, '="') });
    return;
  }
  const type = "element" in field ? field.element : undefined;
  plan.content.push(contentStep(field.kind, key, name, type && writePlan(type)));
}

/** How a child is written; with `name` and the plan of `domain`, also the root itself. */
export function contentStep(
  kind: ContentStep["kind"],
  key: string,
  name: string,
  plan: WritePlan | undefined,
): ContentStep {
  return {
    kind,
    key,
    name,
    plan,
    opening: [],
    start: [],
    closing: [],
    end: joined("</", name, ">"),
  };
}

/** The opening tag at a depth, with the line break and indent before it. */
export function openingAt(step: ContentStep, depth: number): string {
  const known = step.opening[depth];
  if (known !== undefined) return known;
  const end = step.kind === "leaf" ? ">" : step.kind === "flag" ? "/>" : "";
  const made = joined(depth === 0 ? "" : lineBreak(depth), "<", step.name, end);
  step.opening[depth] = made;
  return made;
}

/** The opening tag at a depth up to the value of its first attribute, which is number `at`. */
export function startAt(
  step: ContentStep,
  attributes: readonly AttributeStep[],
  depth: number,
  at: number,
): string {
  const place = depth * attributes.length + at;
  const known = step.start[place];
  if (known !== undefined) return known;
  const made = joined(openingAt(step, depth), " ", attributes[at]?.name ?? "", '="');
  step.start[place] = made;
  return made;
}

/** The closing tag at a depth, with the line break and indent before it. */
export function closingAt(step: ContentStep, depth: number): string {
  const known = step.closing[depth];
  if (known !== undefined) return known;
  const made = joined(lineBreak(depth), step.end);
  step.closing[depth] = made;
  return made;
}

function lineBreak(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}

/** As a template would, but in one piece: what is added up stays a tree, which is copied slowly. */
function joined(...pieces: string[]): string {
  return pieces.join("");
}
