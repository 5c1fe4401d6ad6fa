import { formatPath } from "@virtkit/api/schema";
import { contextFields } from "./context-fields.ts";
import type { Source } from "./explanation.ts";
import { isWithin } from "./field-path.ts";
import type { FieldRef } from "./find-sources.ts";
import type { Step } from "./trace-steps.ts";

/** More defaults than these would not explain more. */
const maxDefaults = 4;

/** The share of all nodes above which a field says little about each, for example the architecture. */
const farReach = 1 / 4;

/**
 * The sources of a node, from all the fields that change it: the most specific first.
 *
 * A field that also changes the element is about the element, so it counts only if no other does; one that
 * changes much of the domain counts only if nothing closer does. A field within another one stands for both. A
 * field that is not set counts only if it says more than every set field of the VMI. Without any, the rule is
 * the source; a hook always is.
 */
export function chooseSources(
  refs: readonly FieldRef[],
  { step, parentRefs, nodes }: Surroundings,
): Source[] {
  const own = someOrAll(refs, (ref) => !parentRefs.includes(ref));
  const close = someOrAll(own, ({ reach }) => reach <= nodes * farReach);
  const sorted = [...close].sort((one, other) => one.reach - other.reach);
  const narrow = sorted.filter((ref) => !sorted.some((other) => isInside(other, ref)));
  const closest = narrow.find(({ present, input }) => present && input === "vmi")?.reach;
  const defaults = narrow
    .filter(({ present, reach }) => !present && reach < (closest ?? Infinity))
    .slice(0, maxDefaults);
  const present = narrow.filter((ref) => ref.present).sort(vmiFirst);
  const sources = [...defaults, ...present].map(sourceOf);
  const { kind, name, summary } = step;
  if (kind === "rule" && sources.length > 0) return sources;
  return [{ kind, path: name, because: summary }, ...sources];
}

/** What else is known about a node. */
interface Surroundings {
  /** What wrote it. */
  readonly step: Step;
  /** The fields that change the element it belongs to. */
  readonly parentRefs: readonly FieldRef[];
  /** How many nodes there are. */
  readonly nodes: number;
}

/** The items that pass, or all if none does. */
function someOrAll<T>(items: readonly T[], passes: (item: T) => boolean): readonly T[] {
  const some = items.filter(passes);
  return some.length > 0 ? some : items;
}

function vmiFirst(one: FieldRef, other: FieldRef): number {
  return Number(other.input === "vmi") - Number(one.input === "vmi");
}

function isInside(ref: FieldRef, outer: FieldRef): boolean {
  return ref.input === outer.input && isWithin(ref.path, outer.path);
}

function sourceOf(ref: FieldRef): Source {
  const path = formatPath(ref.path);
  if (ref.input === "context") return contextSource(ref, path);
  if (ref.input === "environment") {
    const because = `It follows from ${path} of the environment${shown(ref.value)}.`;
    return { kind: "environment", path: `environment.${path}`, value: ref.value, because };
  }
  if (ref.present) {
    return {
      kind: "field",
      path,
      value: ref.value,
      because: `It follows from ${path}${shown(ref.value)}.`,
    };
  }
  if (ref.value === undefined) {
    return { kind: "default", path, because: `This is because ${path} is not set.` };
  }
  const because = `It follows from the default of ${path}${shown(ref.value)}.`;
  return { kind: "default", path, value: ref.value, because };
}

function contextSource({ path: steps, value }: FieldRef, path: string): Source {
  const { origin, summary } = contextFields[steps[0] as keyof typeof contextFields] ?? {
    origin: "node",
    summary: "what the context says",
  };
  const whose = {
    cluster: "a setting of the cluster",
    node: "a fact about the node",
    field: "the VMI",
  };
  const because = `It follows from ${path} of the context${shown(value)}, ${whose[origin]}: ${summary}.`;
  const kind = origin === "field" ? "node" : origin;
  return { kind, path: `context.${path}`, value, because };
}

function shown(value: unknown): string {
  if (value === undefined) return " (not set)";
  if (typeof value === "object" && value !== null) return "";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return ` (${text.length > 60 ? `${text.slice(0, 57)}...` : text})`;
}
