import type {
  Affinity,
  NodeAffinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from "@virtkit/api/schema";
import type { Step } from "../pod-draft.ts";
import { foreignNames } from "../well-known.ts";

const affinityPart = "spec.affinity.nodeAffinity";

/** The VMI's affinity, and the nodes to avoid. */
export const nodeAffinity: Step = ({ spec, domain, names, explain }, draft) => {
  const { nodeLabels } = names;
  if (spec.affinity) {
    draft.affinity = spec.affinity;
    explain?.("spec.affinity", "vmi.spec.affinity", "set by the VMI");
  }
  const { cpu } = domain;
  if (!cpu?.model || cpu.model === "host-model") {
    draft.affinity = avoidLabel(draft.affinity, nodeLabels.obsoleteHostModel);
    explain?.(
      affinityPart,
      "vmi.spec.domain.cpu.model",
      "not to nodes with an obsolete host model",
    );
  }
  for (const { name, policy } of cpu?.features ?? []) {
    if (policy !== "forbid") continue;
    draft.affinity = avoidLabel(draft.affinity, `${nodeLabels.cpuFeature}${name}`);
    explain?.(
      affinityPart,
      "vmi.spec.domain.cpu.features",
      "not to nodes with a forbidden feature",
    );
  }
};

/** Only nodes without a label: any of several alternatives may match, so each must say it. */
function avoidLabel(affinity: Affinity | undefined, key: string): Affinity {
  const requirement: NodeSelectorRequirement = { key, operator: "DoesNotExist" };
  if (!affinity) return { nodeAffinity: requireTerms([{ matchExpressions: [requirement] }]) };
  const required = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms: NodeSelectorTerm[] = required
    ? (required.nodeSelectorTerms ?? []).map((term) => ({
        ...term,
        matchExpressions: [...(term.matchExpressions ?? []), requirement],
      }))
    : [{ matchExpressions: [requirement] }];
  return { ...affinity, nodeAffinity: { ...affinity.nodeAffinity, ...requireTerms(terms) } };
}

function requireTerms(nodeSelectorTerms: NodeSelectorTerm[]): NodeAffinity {
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}

/** If nodes may emulate other architectures, those that need not are preferred. */
export const architecturePreference: Step = ({ spec, config, explain }, draft) => {
  if (!config.gate("CrossArchitectureVirtualization") || !spec.architecture) return;
  const { affinity } = draft;
  const own: NodeSelectorRequirement = {
    key: foreignNames.architecture,
    operator: "In",
    values: [spec.architecture.toLowerCase()],
  };
  draft.affinity = {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      preferredDuringSchedulingIgnoredDuringExecution: [
        ...(affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
        { weight: 100, preference: { matchExpressions: [own] } },
      ],
    },
  };
  explain?.(affinityPart, "vmi.spec.architecture", "nodes of that architecture are preferred");
};
