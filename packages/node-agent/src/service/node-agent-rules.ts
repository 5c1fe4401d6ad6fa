import type { Names } from "@virtkit/api/names";

/** A rule of a ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * What a node agent may do at the API server, as far as a ClusterRole can express it. `nodeAgentCauses` of
 * `@virtkit/api/admission` ensures that it changes only VMIs of its own node, and only its own part of them.
 */
export function nodeAgentRules({ groups }: Names): readonly PolicyRule[] {
  const reads = ["get", "list", "watch"];
  return [
    {
      apiGroups: [groups.core],
      resources: ["virtualmachineinstances"],
      verbs: [...reads, "patch"],
    },
    { apiGroups: [""], resources: ["pods"], verbs: reads },
    { apiGroups: [""], resources: ["nodes"], verbs: ["get", "patch"] },
    // To request its certificate and to fetch it; the signer decides who may have which.
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests"],
      verbs: ["create", "get"],
    },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  ];
}
