import type { NodeRequirement, SimulatedNode, SimulatedPod } from "./core-resources.ts";

/** Why a Pod cannot run on a node, as a scheduler says it; nothing if it can. */
export function misfit(pod: SimulatedPod, node: SimulatedNode): string | undefined {
  const { spec } = pod;
  const { labels = {} } = node.metadata;
  if (node.spec?.unschedulable) return "node(s) were unschedulable";
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready && ready.status !== "True") return "node(s) were not ready";
  const taint = node.spec?.taints?.find(
    (each) => each.effect !== "PreferNoSchedule" && !tolerates(pod, each),
  );
  if (taint) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
  const selector = Object.entries(spec?.nodeSelector ?? {});
  if (!selector.every(([key, value]) => labels[key] === value) || !hasAffinity(pod, node)) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  return undefined;
}

function tolerates(
  { spec }: SimulatedPod,
  taint: { readonly key: string; readonly value?: string; readonly effect: string },
): boolean {
  return (spec?.tolerations ?? []).some(
    ({ key, operator = "Equal", value, effect }) =>
      (effect === undefined || effect === "" || effect === taint.effect) &&
      (key === undefined || key === "" || key === taint.key) &&
      (operator === "Exists" || (value ?? "") === (taint.value ?? "")),
  );
}

function hasAffinity({ spec }: SimulatedPod, node: SimulatedNode): boolean {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms;
  if (!terms) return true;
  const labels: Readonly<Record<string, string>> = node.metadata.labels ?? {};
  const fields = { "metadata.name": node.metadata.name ?? "" };
  return terms.some(
    ({ matchExpressions = [], matchFields = [] }) =>
      matchExpressions.every((each) => meets(each, labels)) &&
      matchFields.every((each) => meets(each, fields)),
  );
}

function meets(
  { key, operator, values = [] }: NodeRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return Number(value) > Number(values[0]);
    case "Lt":
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** Devices and other countable resources that a Pod asks for: all with a domain in their name. */
export function countedRequests({ spec }: SimulatedPod): ReadonlyMap<string, number> {
  const sum = new Map<string, number>();
  for (const { resources } of spec?.containers ?? []) {
    for (const [name, amount] of Object.entries(resources?.requests ?? {})) {
      if (name.includes("/")) sum.set(name, (sum.get(name) ?? 0) + Number(amount));
    }
  }
  return sum;
}
