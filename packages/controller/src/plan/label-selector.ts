import type { LabelSelector } from "@virtkit/api/schema";
import { entry, isSet, objects, text } from "@virtkit/api/shape";

/** A parsed label selector. */
export interface Selector {
  matches(labels: unknown): boolean;
  /** As the scale subresource shows it: `app=x,tier in (a,b)`. */
  readonly text: string;
}

interface Requirement {
  readonly key: string;
  readonly text: string;
  matches(value: string | undefined): boolean;
}

/**
 * Parses a selector; `undefined` if the API server's rules do not allow it. A missing selector
 * selects nothing.
 */
export function readSelector(selector: LabelSelector | undefined): Selector | undefined {
  if (!isSet(selector)) return { matches: () => false, text: "" };
  const required: (Requirement | undefined)[] = [
    ...Object.entries(Object(selector.matchLabels)).map(([key, value]) => equal(key, text(value))),
    ...objects(selector.matchExpressions).map(readRequirement),
  ];
  return selectorOf(required);
}

/** Parses requirements as node selectors write them, with `Gt` and `Lt` as well. */
export function readRequirements(requirements: unknown): Selector | undefined {
  return selectorOf(objects(requirements).map(readRequirement));
}

function selectorOf(required: readonly (Requirement | undefined)[]): Selector | undefined {
  if (!required.every(isSet)) return undefined;
  const sorted = [...required].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return {
    matches: (labels) => sorted.every(({ key, matches }) => matches(entry(labels, key))),
    text: sorted.map((requirement) => requirement.text).join(","),
  };
}

function equal(key: string, value: string): Requirement {
  return { key, text: `${key}=${value}`, matches: (found) => found === value };
}

function readRequirement(expression: Readonly<Record<string, unknown>>): Requirement | undefined {
  const key = text(expression["key"]);
  const given = expression["values"];
  const values = Array.isArray(given) ? given.map(text) : [];
  const list = `(${[...values].sort().join(",")})`;
  if (key === "") return undefined;
  switch (expression["operator"]) {
    case "In":
      if (values.length === 0) return undefined;
      return {
        key,
        text: `${key} in ${list}`,
        matches: (found) => found !== undefined && values.includes(found),
      };
    case "NotIn":
      if (values.length === 0) return undefined;
      return {
        key,
        text: `${key} notin ${list}`,
        matches: (found) => found === undefined || !values.includes(found),
      };
    case "Exists":
      if (values.length > 0) return undefined;
      return { key, text: key, matches: (found) => found !== undefined };
    case "DoesNotExist":
      if (values.length > 0) return undefined;
      return { key, text: `!${key}`, matches: (found) => found === undefined };
    case "Gt":
      return compared(key, ">", values, (found, limit) => found > limit);
    case "Lt":
      return compared(key, "<", values, (found, limit) => found < limit);
    default:
      return undefined;
  }
}

function compared(
  key: string,
  sign: string,
  values: readonly string[],
  holds: (found: bigint, limit: bigint) => boolean,
): Requirement | undefined {
  const [limit, ...rest] = values;
  if (limit === undefined || rest.length > 0 || !isInteger(limit)) return undefined;
  return {
    key,
    text: `${key}${sign}${limit}`,
    matches: (found) =>
      found !== undefined && isInteger(found) && holds(BigInt(found), BigInt(limit)),
  };
}

function isInteger(value: string): boolean {
  return /^-?\d{1,19}$/.test(value);
}
