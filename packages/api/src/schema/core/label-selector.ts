import { array, map, object, required, type Schema, string } from "../schema.ts";

/** One condition on a label. */
export interface LabelSelectorRequirement {
  key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  operator: string;
  values?: string[];
}

export const LabelSelectorRequirementSchema: Schema<LabelSelectorRequirement> =
  object<LabelSelectorRequirement>({
    key: required(string),
    operator: required(string),
    values: array(string, { listType: "atomic" }),
  });

/** Selects objects by their labels; an empty selector selects everything, a missing one nothing. */
export interface LabelSelector {
  matchExpressions?: LabelSelectorRequirement[];
  /** Labels that must have exactly these values. */
  matchLabels?: Record<string, string>;
}

export const LabelSelectorSchema: Schema<LabelSelector> = object<LabelSelector>(
  {
    matchExpressions: array(LabelSelectorRequirementSchema, { listType: "atomic" }),
    matchLabels: map(string),
  },
  { atomic: true },
);
