import type { ClusterConfig } from "@virtkit/api/config";

/** What a heartbeat contains. */
export interface HeartbeatFacts {
  /**
   * Whether VMIs may be scheduled here: the kubelet knows all device plug-ins, and the agent is not shutting down.
   */
  readonly schedulable: boolean;
  /** Whether the kubelet assigns whole CPUs to containers. */
  readonly cpuManager: boolean;
  readonly now: Date;
  readonly bootId: string;
}

/** KubeVirt's first name for it, which users' selectors may still use. */
const oldCpuManagerLabel = "cpumanager";

/** A merge patch of a node: that its agent lives, in which boot, and whether VMIs may be scheduled. */
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

/** Whether the kubelet assigns whole CPUs to containers, by its state file. An unreadable one means no. */
export function isCpuManagerStatic(stateFile: string | undefined): boolean {
  try {
    const state: unknown = JSON.parse(stateFile ?? "");
    return Reflect.get(Object(state), "policyName") === "static";
  } catch {
    // As KubeVirt does: a node whose kubelet has no CPU manager has no such file.
    return false;
  }
}
