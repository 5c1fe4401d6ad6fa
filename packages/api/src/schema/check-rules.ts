import { quote } from "./issue.ts";
import type { Rules } from "./rules.ts";
import type { SchemaNode } from "./schema.ts";

/**
 * The fault of a value of the right type by the rules of its CRD, or `undefined`.
 *
 * Expressions (`validations`) are not run here: only the API server has their language.
 */
export function checkRules(node: SchemaNode, rules: Rules, value: unknown): string | undefined {
  if (typeof value === "string") return checkString(node, rules, value);
  if (typeof value === "number") return checkNumber(rules, value);
  if (Array.isArray(value) && value.length > (rules.maxItems ?? Number.POSITIVE_INFINITY)) {
    return `must have at most ${rules.maxItems} items; found ${value.length}`;
  }
  return undefined;
}

function checkNumber({ minimum, maximum }: Rules, value: number): string | undefined {
  if (minimum !== undefined && value < minimum)
    return `must be at least ${minimum}; found ${value}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}; found ${value}`;
  return undefined;
}

function checkString(node: SchemaNode, rules: Rules, value: string): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = rules;
  // The API server counts code points. No limit is so low that this costs anything.
  const length =
    value.length > maxLength || value.length < minLength ? [...value].length : minLength;
  if (length < minLength)
    return `must have at least ${minLength} characters; found ${quote(value)}`;
  if (length > maxLength) return `must have at most ${maxLength} characters; found ${length}`;
  if (pattern !== undefined && !new RegExp(pattern).test(value)) {
    return `must match ${pattern}; found ${quote(value)}`;
  }
  const known = rules.closed && node.kind === "string" ? node.known : undefined;
  if (known?.includes(value) === false) {
    return `must be one of ${known.map(quote).join(", ")}; found ${quote(value)}`;
  }
  return undefined;
}
