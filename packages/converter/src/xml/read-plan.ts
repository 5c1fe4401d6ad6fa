import type { AnyElementType, AnyField } from "../model/element.ts";

/** A field, with the property it fills. */
export interface ReadStep {
  readonly key: string;
  readonly field: AnyField;
}

/** An element type by the names in a document. */
export interface ReadPlan {
  readonly attributes: ReadonlyMap<string, ReadStep>;
  readonly text: ReadStep | undefined;
  readonly content: ReadonlyMap<string, ReadStep>;
  /** All fields, in the order of the table, which is also that of the parsed object. */
  readonly steps: readonly ReadStep[];
}

const plans = new WeakMap<AnyElementType, ReadPlan>();

/** The plan for an element type, made once. */
export function readPlan(type: AnyElementType): ReadPlan {
  const known = plans.get(type);
  if (known) return known;
  const steps = type.fields.map(([key, field]): ReadStep => ({ key, field }));
  const named = (isWanted: (kind: AnyField["kind"]) => boolean): Map<string, ReadStep> =>
    new Map(
      steps
        .filter(({ field }) => isWanted(field.kind))
        .map((step) => [nameOf(step), step] as const),
    );
  const plan: ReadPlan = {
    attributes: named((kind) => kind === "attribute"),
    text: steps.find(({ field }) => field.kind === "text"),
    content: named((kind) => kind !== "attribute" && kind !== "text"),
    steps,
  };
  plans.set(type, plan);
  return plan;
}

function nameOf({ key, field }: ReadStep): string {
  return "name" in field ? (field.name ?? key) : key;
}
