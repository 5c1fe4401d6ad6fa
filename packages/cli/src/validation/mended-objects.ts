import { formatPath, type Path, type SchemaNode, schemaFor } from "@virtkit/api/schema";
import { absent, standIns } from "./stand-ins.ts";

/** How many ways to fix an object are tried: each name with each kind of volume. */
const mostWays = 256;
/** How many names of the object are tried as the value of a field. */
const mostNames = 8;
/** A required object with more fields, such as a spec or its domain, is too large to guess. */
const mostFields = 12;
/** How much of an object is searched for names. */
const mostValues = 10_000;

/**
 * The possible meanings of an object whose fields at `paths` are at fault: each of them left out or given other
 * values. A rule that rejects all of them would reject the object, too, however those fields are fixed. Empty
 * if the object cannot be fixed.
 *
 * Names that occur elsewhere in the object are among the values, because a disk with an unreadable name may
 * well be the one that a volume belongs to.
 */
export function* mendedObjects(
  object: unknown,
  paths: readonly Path[],
  group: string,
): Generator<unknown, void, undefined> {
  const schema = schemaFor(object, { group });
  if (!schema || paths.some((path) => path.length === 0)) return;
  const names = namesIn(object);
  const fields = new Map(paths.map((path) => [formatPath(path), path]));
  const choices = [...fields.values()].map((path) => ({
    path,
    values: valuesAt(schema, path, names),
  }));
  if (choices.some(({ values }) => values.length === 0)) return;
  const ways = Math.min(mostWays, Math.max(...choices.map(({ values }) => values.length)));
  for (let way = 0; way < ways; way++) {
    yield choices.reduce(
      (mended, { path, values }) => withValue(mended, path, values[way % values.length]),
      object,
    );
  }
}

/** Possible values at a path; none if they cannot be guessed. */
function valuesAt(root: SchemaNode, path: Path, names: readonly string[]): readonly unknown[] {
  let place: Place | undefined = { node: root, optional: false };
  for (const step of path) {
    place = placeIn(place.node, step);
    // An unknown field has no meaning, so it can only be left out.
    if (!place) return [absent];
  }
  const { node, optional } = place;
  const isItem = typeof path.at(-1) === "number";
  if (!optional && !isItem && node.kind === "object" && node.fields.size > mostFields) return [];
  const values = standIns(node, names);
  return optional ? [absent, ...values] : values;
}

interface Place {
  readonly node: SchemaNode;
  readonly optional: boolean;
}

function placeIn(node: SchemaNode, step: string | number): Place | undefined {
  switch (node.kind) {
    case "nullable":
      return placeIn(node.inner, step);
    case "object": {
      const field = node.fields.get(String(step));
      return field && { node: field.schema, optional: !field.required };
    }
    case "map":
      return { node: node.values, optional: true };
    case "array":
      return { node: node.items, optional: false };
    default:
      return undefined;
  }
}

/** A copy of the object with another value at a path; everything else is shared. */
function withValue(object: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(object)) {
    return object.map((item, index) => (index === step ? withValue(item, rest, value) : item));
  }
  const { [step]: old, ...others } = Object(object) as Record<string | number, unknown>;
  if (rest.length === 0 && value === absent) return others;
  return { ...others, [step]: withValue(old, rest, value) };
}

/** The names that occur in an object: those in fields like `name` and `claimName`. */
function namesIn(object: unknown): readonly string[] {
  const names = new Set<string>();
  const queue: unknown[] = [object];
  for (let next = 0; next < queue.length && next < mostValues; next++) {
    const value = queue[next];
    if (typeof value !== "object" || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner !== "string") queue.push(inner);
      else if (/name$/i.test(key) && names.size < mostNames) names.add(inner);
    }
  }
  return [...names];
}
