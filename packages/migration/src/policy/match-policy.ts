import type { MigrationPolicy } from "@virtkit/api/schema";
import { readList } from "./read-list.ts";

type Labels = Readonly<Record<string, string>>;

/** How closely a policy describes a VMI: the number of labels of each that it names. */
interface Score {
  readonly vmi: number;
  readonly namespace: number;
}

/**
 * The policy that applies to a VMI, or none: of those whose selectors all match, the one that names the most
 * labels; then the one that names the most of the VMI's own; then the first by name.
 *
 * A policy without selectors matches nothing. A VMI that has no labels at all (not even an empty
 * map) is matched by every policy with selectors, whatever they say, as in KubeVirt.
 */
export function matchPolicy(
  policies: readonly MigrationPolicy[],
  vmiLabels: Labels | undefined,
  namespaceLabels: Labels | undefined,
): MigrationPolicy | undefined {
  let best: { policy: MigrationPolicy; score: Score } | undefined;
  for (const policy of readList(policies, "policies")) {
    const score = scoreOf(policy, vmiLabels, namespaceLabels);
    if (score && (!best || isBetter(policy, score, best))) best = { policy, score };
  }
  return best?.policy;
}

function scoreOf(
  { spec }: MigrationPolicy,
  vmiLabels: Labels | undefined,
  namespaceLabels: Labels | undefined,
): Score | undefined {
  const selectors = spec?.selectors;
  if (!selectors) return undefined;
  if (!vmiLabels) return { vmi: 0, namespace: 0 };
  const vmi = countMatches(selectors.virtualMachineInstanceSelector, vmiLabels);
  const namespace = countMatches(selectors.namespaceSelector, namespaceLabels ?? {});
  return vmi === undefined || namespace === undefined ? undefined : { vmi, namespace };
}

/** The number of labels that a selector names, if all match; a missing selector names none. */
function countMatches(selector: Labels | undefined, labels: Labels): number | undefined {
  const wanted = Object.entries(selector ?? {});
  const all = wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
  return all ? wanted.length : undefined;
}

function isBetter(
  policy: MigrationPolicy,
  score: Score,
  best: { policy: MigrationPolicy; score: Score },
): boolean {
  const more = score.vmi + score.namespace - best.score.vmi - best.score.namespace;
  if (more !== 0) return more > 0;
  if (score.vmi !== best.score.vmi) return score.vmi > best.score.vmi;
  return nameOf(policy) < nameOf(best.policy);
}

function nameOf({ metadata }: MigrationPolicy): string {
  return metadata?.name ?? "";
}
