import { names as defaultNames, type Names } from "@virtkit/api/names";
import type { Affinity, NodeSelectorTerm, VirtualMachineInstance } from "@virtkit/api/schema";
import { LauncherPodError } from "../launcher-pod-error.ts";
import { foreignNames } from "../well-known.ts";

const kubevirtNames = defaultNames();

/** Keeps the target of a migration off the node of any other Pod of the same VMI. */
export function targetAntiAffinity(
  affinity: Affinity | undefined,
  vmiUid: string,
  { labels }: Names = kubevirtNames,
): Affinity {
  const apart = affinity?.podAntiAffinity;
  const required = apart?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const path = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution";
  return {
    ...affinity,
    podAntiAffinity: {
      ...apart,
      requiredDuringSchedulingIgnoredDuringExecution: [
        ...listOf(required, path),
        {
          labelSelector: { matchLabels: { [labels.createdBy]: vmiUid } },
          topologyKey: foreignNames.hostname,
        },
      ],
    },
  };
}

/**
 * Keeps the target of a migration between clusters off nodes with the name of the source's node. Only the first of
 * several alternatives in a node affinity says so, as in KubeVirt: in another cluster, a node of that name is a
 * different node, so only a preference is lost. Without a source node, no node is excluded.
 */
export function decentralizedAntiAffinity(
  affinity: Affinity | undefined,
  vmi: VirtualMachineInstance,
): Affinity {
  const source = vmi?.status?.migrationState?.sourceState;
  if (!source) {
    const path = "status.migrationState.sourceState";
    const message = `${path} is missing; the source has not said where the guest runs`;
    throw new LauncherPodError("LAUNCHER_POD_SOURCE_INVALID", message, { path });
  }
  const { node = "" } = source;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const path =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const terms = listOf(required?.nodeSelectorTerms ?? [{}], path);
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((term, index) =>
          index === 0 ? away(term, node, `${path}[0]`) : term,
        ),
      },
    },
  };
}

function away(term: NodeSelectorTerm, node: string, path: string): NodeSelectorTerm {
  return {
    ...term,
    matchExpressions: [
      ...listOf(term?.matchExpressions ?? [], `${path}.matchExpressions`),
      { key: foreignNames.hostname, operator: "NotIn", values: [node] },
    ],
  };
}

/** A list in a Pod from elsewhere that was never checked. */
function listOf<T>(list: readonly T[], path: string): readonly T[] {
  if (Array.isArray(list)) return list;
  const message = `the source Pod's ${path} is ${typeof list}, not a list; read the Pod again`;
  throw new LauncherPodError("LAUNCHER_POD_SOURCE_INVALID", message, { path });
}
