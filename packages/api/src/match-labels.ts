import type { LabelSelector, LabelSelectorRequirement } from "./schema/index.ts";

/**
 * Whether labels match a selector. An empty selector matches everything. One with an unknown operator, or with
 * the wrong number of values, matches nothing.
 */
export function matchesSelector(
  { matchLabels, matchExpressions }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  for (const [key, value] of Object.entries(matchLabels ?? {})) {
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  }
  return (matchExpressions ?? []).every((requirement) => matchesRequirement(requirement, labels));
}

function matchesRequirement(
  { key, operator, values = [] }: LabelSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return values.length > 0 && (value === undefined || !values.includes(value));
    case "Exists":
      return values.length === 0 && value !== undefined;
    case "DoesNotExist":
      return values.length === 0 && value === undefined;
    default:
      return false;
  }
}
