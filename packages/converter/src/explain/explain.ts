import {
  type SchemaNode,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";
import { type ConvertOptions, convertUnguarded } from "../convert.ts";
import { chooseSources } from "./choose-sources.ts";
import { contextSchema } from "./context-fields.ts";
import type { TreeNode } from "./domain-tree.ts";
import type { ExplainedNode, Explanation } from "./explanation.ts";
import { type FieldRef, findSources } from "./find-sources.ts";
import { type TracedConversion, traceSteps } from "./trace-steps.ts";

/**
 * Converts a VMI that has its defaults, and says for every element and attribute of the XML where it comes from:
 * fields of the VMI, defaults, settings of the cluster, facts about the node, or a rule.
 *
 * Every reason was tested: a field is named because the node changes or disappears when the field does. This takes
 * a few hundred conversions: about 30 ms, plus some milliseconds for each disk. Hooks are called as often; if a
 * list has more than 32 items, they are also called with VMIs that have only one of them.
 *
 * @throws ConverterError as `convert` does.
 *
 * @example
 * ```ts
 * const { nodes } = explain(vmi, context);
 * nodesAt(nodes, "devices.disk[0].driver.@cache")[0]?.sources[0]?.path;
 * // "spec.domain.devices.disks[0].cache"
 * ```
 */
export function explain(
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  options: ConvertOptions = {},
): Explanation {
  const traced = traceSteps(vmi, context, options.hooks ?? []);
  return explanationOf(traced, contextSources(traced, vmi, context, options));
}

const schemas = { vmi: VirtualMachineInstanceSchema as SchemaNode, context: contextSchema };

/** The fields of a VMI with its defaults, and of its context, that each node depends on. */
export function contextSources(
  { tree }: TracedConversion,
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  options: ConvertOptions,
): Map<TreeNode, FieldRef[]> {
  return findSources({
    tree,
    inputs: { vmi, context },
    schemas,
    tryAbsent: true,
    convert: (inputs) =>
      convertUnguarded(
        inputs["vmi"] as VirtualMachineInstance,
        inputs["context"] as ConverterContext,
        options,
      ),
  });
}

/** The nodes of a conversion in document order, with the most specific sources. */
export function explanationOf(
  { domain, tree, stepOf }: TracedConversion,
  found: ReadonlyMap<TreeNode, readonly FieldRef[]>,
): Explanation {
  const nodes: ExplainedNode[] = [];
  const visit = (node: TreeNode, path: string, parentRefs: readonly FieldRef[]): void => {
    const step = stepOf.get(node);
    if (!step) throw new Error(`no step wrote ${path}`);
    const refs = found.get(node) ?? [];
    const sources = chooseSources(refs, { step, parentRefs, nodes: stepOf.size });
    const { kind, name, value } = node;
    nodes.push({ path, kind, name, value, sources, step });
    const prefix = path === "domain" ? "" : `${path}.`;
    for (const attribute of node.attributes) visit(attribute, `${prefix}@${attribute.name}`, refs);
    for (const child of node.children) {
      visit(child, `${prefix}${child.name}${child.at === undefined ? "" : `[${child.at}]`}`, refs);
    }
  };
  visit(tree, "domain", []);
  return { domain, nodes };
}
