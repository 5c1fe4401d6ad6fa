import type { Names } from "@virtkit/api/names";
import { text } from "@virtkit/api/shape";
import type { TextMap } from "../plan/map-patch.ts";

/** What counts of a node. */
interface LabelledNode {
  readonly metadata?: { readonly name?: string; readonly labels?: TextMap } | undefined;
}

/** Clocks that differ by less than this are the same: a frequency is measured anew when a host boots. KVM's limit. */
const tolerance = 250e-6;

/** The frequency of a node's TSC in Hz, as its agent says; 0 if it says none. */
export function frequencyOf({ metadata }: LabelledNode, { nodeLabels }: Names): number {
  const value = text(metadata?.labels?.[`${nodeLabels.cpuTimer}tsc-frequency`]);
  return /^[+]?\d+$/.test(value) ? Number(value) : 0;
}

/** The lowest frequency of the nodes that accept or have VMIs; 0 if none says its frequency. */
export function lowestFrequency(
  nodes: readonly LabelledNode[],
  hasVmis: (node: string) => boolean,
  names: Names,
): number {
  const frequencies = nodes
    .filter(
      ({ metadata }) =>
        metadata?.labels?.[names.nodeLabels.schedulable] === "true" ||
        hasVmis(text(metadata?.name)),
    )
    .map((node) => frequencyOf(node, names))
    .filter((frequency) => frequency > 0);
  return frequencies.length > 0 ? Math.min(...frequencies) : 0;
}

/**
 * The labels of a node with those by which it offers frequencies to guests whose clock follows the TSC: of the required
 * ones its own, and lower ones if it can scale. A node whose agent says no frequency keeps its labels.
 */
export function withOffered(
  node: LabelledNode,
  required: readonly number[],
  names: Names,
): TextMap {
  const { cpuTimer, tscFrequency: prefix } = names.nodeLabels;
  const labels = node.metadata?.labels ?? {};
  const own = frequencyOf(node, names);
  if (own === 0) return labels;
  const isScalable = labels[`${cpuTimer}tsc-scalable`] === "true";
  const offered = required.filter(
    (frequency) =>
      Math.abs(frequency - own) <= own * tolerance ||
      (isScalable && frequency > 0 && frequency < own),
  );
  const others = Object.entries(labels).filter(([key]) => !key.startsWith(prefix));
  return Object.fromEntries([...others, ...offered.map((each) => [`${prefix}${each}`, "true"])]);
}
