import type { LabelSelector } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote } from "./cause.ts";
import { labelValueProblems, qualifiedNameProblems } from "./kubernetes-name.ts";

/** Kubernetes' rules for a label selector; a missing one is fine. */
export function labelSelector(
  selector: LabelSelector | undefined,
  field: string,
): readonly Cause[] {
  if (!selector) return fine;
  return join(
    Object.entries(selector.matchLabels ?? {}).flatMap(([key, value]) =>
      matchLabel(key, value, `${field}.matchLabels`),
    ),
    each(selector.matchExpressions, (requirement, i) =>
      matchExpression(requirement, `${field}.matchExpressions[${i}]`),
    ),
  );
}

/** A label key; one cause for each fault. */
export function labelKey(key: string, field: string): readonly Cause[] {
  return each(qualifiedNameProblems(key), (problem) =>
    invalid(field, `is ${quote(key)}; a label key ${problem}`),
  );
}

/** Checks the operator, and the number of values that it takes. */
export function operatorValues(
  operator: string,
  values: number,
  { field, single }: { field: string; single: readonly string[] },
): readonly Cause[] {
  if (operator === "In" || operator === "NotIn") {
    return values > 0
      ? fine
      : invalid(
          `${field}.values`,
          `is empty, but the operator is ${operator}; list at least one value`,
        );
  }
  if (operator === "Exists" || operator === "DoesNotExist") {
    return values === 0
      ? fine
      : invalid(
          `${field}.values`,
          `has ${values} values, but the operator is ${operator}; remove them`,
        );
  }
  if (!single.includes(operator)) {
    const known = ["In", "NotIn", "Exists", "DoesNotExist", ...single].join(", ");
    return invalid(`${field}.operator`, `is ${quote(operator)}; use ${known}`);
  }
  return values === 1
    ? fine
    : invalid(
        `${field}.values`,
        `has ${values} values, but the operator is ${operator}; give exactly one`,
      );
}

function matchLabel(key: string, value: string, field: string): readonly Cause[] {
  return join(
    labelKey(key, field),
    each(labelValueProblems(value), (problem) =>
      invalid(field, `has the value ${quote(value)} for ${quote(key)}; a label value ${problem}`),
    ),
  );
}

type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

function matchExpression(requirement: Requirement, field: string): readonly Cause[] {
  const values = requirement.values ?? [];
  return join(
    operatorValues(requirement.operator, values.length, { field, single: [] }),
    labelKey(requirement.key, `${field}.key`),
    each(values, (value, i) =>
      each(labelValueProblems(value), (problem) =>
        invalid(`${field}.values[${i}]`, `is ${quote(value)}; a label value ${problem}`),
      ),
    ),
  );
}
