import {
  type SchemaNode,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { type ConvertOptions, convertUnguarded } from "../convert.ts";
import { prepareVmi } from "../domain-for.ts";
import type { Environment } from "../resolve/environment.ts";
import { resolveContext } from "../resolve/resolve-context.ts";
import { contextFields } from "./context-fields.ts";
import type { TreeNode } from "./domain-tree.ts";
import { contextSources, explanationOf } from "./explain.ts";
import type { Explanation } from "./explanation.ts";
import { valueAt } from "./field-path.ts";
import { type FieldRef, findSources } from "./find-sources.ts";
import { traceSteps } from "./trace-steps.ts";

/**
 * Like `explain`, for a VMI as written by a user: names the fields that are set, the defaults of those that are
 * not, and the parts of the environment that matter.
 *
 * @throws ConverterError or ApiError as `domainFor` does.
 */
export function explainFor(
  vmi: VirtualMachineInstance,
  environment: Environment = {},
  options: ConvertOptions = {},
): Explanation {
  const prepared = prepareVmi(vmi, environment);
  const context = resolveContext(prepared, environment);
  const traced = traceSteps(prepared, context, options.hooks ?? []);
  // The configuration is not a tree of settings to change one by one; its effects are in the context.
  const { config, ...surroundings } = environment;
  const { firmwareUUID = prepared.spec.domain.firmware?.uuid } = environment;
  // The same identity each time: a random one would seem to depend on everything.
  const fixed = { ...(config && { config }), ...(firmwareUUID !== undefined && { firmwareUUID }) };
  const written = findSources({
    tree: traced.tree,
    inputs: { vmi, environment: surroundings },
    schemas: { vmi: VirtualMachineInstanceSchema as SchemaNode },
    tryAbsent: false,
    convert: (inputs) => {
      const given = { ...fixed, ...(inputs["environment"] as Environment) };
      const changed = prepareVmi(inputs["vmi"] as VirtualMachineInstance, given);
      return convertUnguarded(changed, resolveContext(changed, given), options);
    },
  });
  const found = contextSources(traced, prepared, context, options);
  const asDefaults = new Map<FieldRef, FieldRef[]>();
  const merged = new Map<TreeNode, FieldRef[]>();
  for (const node of traced.stepOf.keys()) {
    const own = written.get(node) ?? [];
    const others = (found.get(node) ?? []).flatMap((ref) => {
      const known = asDefaults.get(ref) ?? unwritten(ref, vmi);
      asDefaults.set(ref, known);
      return known;
    });
    merged.set(node, [...own, ...withoutDerived(others, own)]);
  }
  return explanationOf(traced, merged);
}

/** A field that a conversion reads, if nobody set it. */
function unwritten(ref: FieldRef, vmi: VirtualMachineInstance): FieldRef[] {
  if (ref.input === "context") return [ref];
  return (valueAt(vmi, ref.path) ?? undefined) === undefined ? [{ ...ref, present: false }] : [];
}

/** Without the parts of the context that follow from what is already named. */
function withoutDerived(refs: readonly FieldRef[], written: readonly FieldRef[]): FieldRef[] {
  const fromEnvironment = written.some(({ input }) => input === "environment");
  return refs.filter(({ input, path: [key] }) => {
    if (input !== "context") return true;
    return !fromEnvironment && contextFields[key as keyof typeof contextFields]?.origin !== "field";
  });
}
