import { badRequest } from "./status-error.ts";

type Test = (values: (key: string) => string | undefined) => boolean;

/** Whether an object has the labels that a selector asks for. */
export type LabelTest = (labels: Readonly<Record<string, string>> | undefined) => boolean;

/**
 * Reads a label selector as `kubectl -l` takes it: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`,
 * joined by commas. Throws 400 for anything else.
 */
export function parseLabelSelector(text: string): LabelTest {
  const tests = splitRequirements(text).map(parseLabelRequirement);
  return (labels) => tests.every((test) => test((key) => labels?.[key]));
}

/** Splits at commas that are not in parentheses. */
function splitRequirements(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

const setRequirement = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equalityRequirement = /^([^\s=!,()]+)\s*(==?|!=)\s*([^\s=!,()]*)$/;
const existenceRequirement = /^(!?)\s*([^\s=!,()]+)$/;

function parseLabelRequirement(text: string): Test {
  const set = setRequirement.exec(text);
  if (set) {
    const [, key = "", operator, list = ""] = set;
    const wanted = new Set(list.split(",").map((value) => value.trim()));
    return operator === "in"
      ? (values) => wanted.has(values(key) ?? absent)
      : (values) => !wanted.has(values(key) ?? absent);
  }
  const equality = equalityRequirement.exec(text);
  if (equality) {
    const [, key = "", operator, wanted] = equality;
    return operator === "!="
      ? (values) => values(key) !== wanted
      : (values) => values(key) === wanted;
  }
  const existence = existenceRequirement.exec(text);
  if (!existence) throw badRequest(`unable to parse requirement: ${JSON.stringify(text)}`);
  const [, not, key = ""] = existence;
  return (values) => (values(key) === undefined) === (not === "!");
}

/** No label has this value: it is too long for one. */
const absent = " ".repeat(64);

/** A `LabelSelector` object, as in the spec of a PodDisruptionBudget. An empty one takes everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export function matchesSelector(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      const listed = value !== undefined && values.includes(value);
      return operator === "In" ? listed : !listed;
    })
  );
}

/**
 * Reads a field selector: `metadata.name=x,spec.nodeName!=y`. A server has few fields that it selects by;
 * it answers 400 for all others.
 */
export function parseFieldSelector(
  text: string,
  fields: readonly string[],
): (object: object) => boolean {
  const tests = splitRequirements(text).map((part): Test => {
    const found = /^([^=!]+)(==?|!=)(.*)$/.exec(part);
    if (!found) throw badRequest(`invalid selector: ${JSON.stringify(part)}`);
    const [, field = "", operator, wanted = ""] = found;
    if (!fields.includes(field)) throw badRequest(`field label not supported: ${field}`);
    return operator === "!="
      ? (values) => (values(field) ?? "") !== wanted
      : (values) => (values(field) ?? "") === wanted;
  });
  return (object) => tests.every((test) => test((field) => fieldOf(object, field)));
}

function fieldOf(object: object, field: string): string | undefined {
  let value: unknown = object;
  for (const key of field.split(".")) value = Object(value)[key];
  return value === undefined ? undefined : String(value);
}
