import type { KubeObject } from "@virtkit/kube";
import { frequencyOf, lowestFrequency } from "../node/tsc-frequencies.ts";
import { known } from "../plan/object-source.ts";
import type { PartContext } from "./controller-part.ts";

/** The lowest frequency changes only when nodes come and go, and each pass over a node asks for it. */
const keptMilliseconds = 10_000;

/**
 * The TSC frequencies that a node may have to offer: those that guests have, and the one that the next guest gets.
 * Undefined for a node whose agent says no frequency.
 */
export function requiredFrequencies({
  caches: { nodes, vmis },
  names,
  config,
  clock,
}: Pick<PartContext, "caches" | "names" | "config" | "clock">): (
  node: KubeObject | undefined,
) => readonly number[] | undefined {
  const hasVmis = (node: string): boolean => known(vmis.byIndex("node", node)).length > 0;
  let kept = { lowest: 0, until: 0 };
  const lowestWith = (own: number): number => {
    const now = clock.now();
    if (kept.lowest === 0 || own < kept.lowest || now >= kept.until) {
      const lowest = lowestFrequency(known(nodes.list()), hasVmis, names);
      kept = { lowest, until: now + keptMilliseconds };
    }
    return kept.lowest;
  };
  return (node) => {
    const own = node ? frequencyOf(node, names) : 0;
    if (own === 0) return undefined;
    const next = config().cluster.minimumClusterTscFrequency ?? lowestWith(own);
    const inUse = known(vmis.byIndex("tsc", "hinted")).map(
      ({ status }) => status?.topologyHints?.tscFrequency ?? 0,
    );
    return [...new Set([next, ...inUse])].filter((frequency) => frequency > 0);
  };
}
