import type { Names } from "@virtkit/api/names";

/** A rule of a ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * What a node agent may do at the API server, as far as a ClusterRole can say it. That it may change only VMIs of its own
 * node, and of these only what is its own, is `nodeAgentCauses` of `@virtkit/api/admission`.
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
    // To ask for its certificate and to fetch it; who may have which is decided by who signs.
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests"],
      verbs: ["create", "get"],
    },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  ];
}
