import type { ClusterConfig } from "@virtkit/api/config";

/** What a heartbeat tells. */
export interface HeartbeatFacts {
  /** Whether VMIs may be scheduled here: the kubelet knows all device plug-ins, and the agent is not ending. */
  readonly schedulable: boolean;
  /** Whether the kubelet gives whole CPUs to containers. */
  readonly cpuManager: boolean;
  readonly now: Date;
  readonly bootId: string;
}

/** What KubeVirt called it first, which selectors of users may still name. */
const oldCpuManagerLabel = "cpumanager";

/** A merge patch of a node: that its agent lives, in which boot, and whether VMIs may come. */
export function planHeartbeat(
  { schedulable, cpuManager, now, bootId }: HeartbeatFacts,
  { names }: ClusterConfig,
): object {
  const { nodeLabels, annotations } = names;
  return {
    metadata: {
      labels: {
        [nodeLabels.schedulable]: String(schedulable),
        [nodeLabels.cpuManager]: String(cpuManager),
        [oldCpuManagerLabel]: String(cpuManager),
      },
      annotations: {
        // Whole seconds, as Kubernetes writes times.
        [annotations.heartbeat]: now.toISOString().replace(/\.\d+Z$/, "Z"),
        [names.own("boot-id")]: bootId,
      },
    },
  };
}

/** Whether the kubelet gives whole CPUs to containers, by its state file. One that cannot be read says no. */
export function isCpuManagerStatic(stateFile: string | undefined): boolean {
  try {
    const state: unknown = JSON.parse(stateFile ?? "");
    return Reflect.get(Object(state), "policyName") === "static";
  } catch {
    // As KubeVirt does: a node whose kubelet has no CPU manager has no such file.
    return false;
  }
}
