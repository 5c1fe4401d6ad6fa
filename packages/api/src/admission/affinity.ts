import type {
  NodeAffinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  VirtualMachineInstanceSpec,
} from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote } from "./cause.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "./kubernetes-name.ts";
import { labelKey, labelSelector, operatorValues } from "./label-selector.ts";

/**
 * Kubernetes' rules for affinity, applied early: the launcher Pod would be refused otherwise.
 *
 * The reported paths lack `.affinity`, and every reason is FieldValueInvalid, as in KubeVirt.
 */
export function affinity(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  if (!spec.affinity) return fine;
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity;
  return join(
    nodeAffinity ? ofNodes(nodeAffinity, `${at}.nodeAffinity`) : fine,
    podAffinity ? ofPods(podAffinity, `${at}.podAffinity`) : fine,
    podAntiAffinity ? ofPods(podAntiAffinity, `${at}.podAntiAffinity`) : fine,
  );
}

const hard = "requiredDuringSchedulingIgnoredDuringExecution";
const soft = "preferredDuringSchedulingIgnoredDuringExecution";

function ofNodes(nodes: NodeAffinity, at: string): readonly Cause[] {
  const terms = nodes[hard]?.nodeSelectorTerms ?? [];
  const field = `${at}.${hard}.nodeSelectorTerms`;
  return join(
    nodes[hard] && terms.length === 0
      ? invalid(field, "is empty, so no node would match; list at least one term or remove it")
      : fine,
    each(terms, (term, i) => nodeTerm(term, `${field}[${i}]`)),
    each(nodes[soft], (term, i) =>
      join(
        weight(term.weight, `${at}.${soft}[${i}].weight`),
        nodeTerm(term.preference, `${at}.${soft}[${i}].preference`),
      ),
    ),
  );
}

function nodeTerm(term: NodeSelectorTerm, field: string): readonly Cause[] {
  return join(
    each(term.matchExpressions, (requirement, i) =>
      nodeLabel(requirement, `${field}.matchExpressions[${i}]`),
    ),
    each(term.matchFields, (requirement, i) =>
      nodeField(requirement, `${field}.matchFields[${i}]`),
    ),
  );
}

function nodeLabel(requirement: NodeSelectorRequirement, field: string): readonly Cause[] {
  const values = requirement.values?.length ?? 0;
  return join(
    operatorValues(requirement.operator, values, { field, single: ["Gt", "Lt"] }),
    labelKey(requirement.key, `${field}.key`),
  );
}

function nodeField(requirement: NodeSelectorRequirement, field: string): readonly Cause[] {
  const values = requirement.values ?? [];
  return join(
    nodeFieldOperator(requirement.operator, values.length, field),
    requirement.key === "metadata.name"
      ? each(values, (value, i) => nodeName(value, `${field}.values[${i}]`))
      : invalid(`${field}.key`, `is ${quote(requirement.key)}; the only field is metadata.name`),
  );
}

function nodeFieldOperator(operator: string, values: number, field: string): readonly Cause[] {
  if (operator !== "In" && operator !== "NotIn") {
    return invalid(`${field}.operator`, `is ${quote(operator)}; use In or NotIn`);
  }
  return values === 1 ? fine : invalid(`${field}.values`, `has ${values} values; give exactly one`);
}

function nodeName(name: string, field: string): readonly Cause[] {
  return each(dnsSubdomainProblems(name), (problem) =>
    invalid(field, `is ${quote(name)}; a node name ${problem}`),
  );
}

function ofPods(pods: PodAffinity, at: string): readonly Cause[] {
  return join(
    each(pods[hard], (term, i) => podTerm(term, `${at}.${hard}[${i}]`)),
    each(pods[soft], (term, i) =>
      join(
        weight(term.weight, `${at}.${soft}[${i}].weight`),
        podTerm(term.podAffinityTerm, `${at}.${soft}[${i}].podAffinityTerm`),
      ),
    ),
  );
}

function podTerm(term: PodAffinityTerm, field: string): readonly Cause[] {
  const key = term.topologyKey ?? "";
  return join(
    labelSelector(term.labelSelector, `${field}.labelSelector`),
    labelSelector(term.namespaceSelector, `${field}.namespaceSelector`),
    each(term.namespaces, (name) => namespace(name, `${field}.namespace`)),
    key === ""
      ? invalid(
          `${field}.topologyKey`,
          "is empty; name a node label, for example kubernetes.io/hostname",
        )
      : fine,
    labelKey(key, `${field}.topologyKey`),
  );
}

function namespace(name: string, field: string): readonly Cause[] {
  return each(dnsLabelProblems(name), (problem) =>
    invalid(field, `is ${quote(name)}; a namespace name ${problem}`),
  );
}

function weight(found: number, field: string): readonly Cause[] {
  if (found >= 1 && found <= 100) return fine;
  return invalid(field, `is ${quote(found)}; use 1 to 100`);
}
