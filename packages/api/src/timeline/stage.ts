/**
 * The handoffs on the way of a VMI to a guest, in the order in which they happen. The last two wait for the
 * guest but not for each other: an agent may answer before a readiness probe passes, or never.
 */
export const stages = [
  "admitted",
  "pod-created",
  "scheduled",
  "pod-running",
  "launcher-ready",
  "prepared",
  "network-bound",
  "claimed",
  "domain-defined",
  "guest-running",
  "ready",
  "agent-connected",
] as const;

/** One handoff: one side writes something, the other reads it. */
export type Stage = (typeof stages)[number];

/** Who makes a handoff happen. */
export type StageOwner =
  | "api-server"
  | "vmi-controller"
  | "scheduler"
  | "kubelet"
  | "node-agent"
  | "launcher"
  | "guest";

/** What is known about a stage before anything is known about a VMI. */
export interface StageFacts {
  readonly by: StageOwner;
  /** A description of what has happened once the stage is done. */
  readonly label: string;
}

/** {@link StageFacts} of every stage. */
export const stageFacts: Readonly<Record<Stage, StageFacts>> = {
  admitted: { by: "api-server", label: "the VMI is accepted and stored" },
  "pod-created": { by: "vmi-controller", label: "the launcher Pod exists" },
  scheduled: { by: "scheduler", label: "the Pod has a node" },
  "pod-running": { by: "kubelet", label: "the Pod's containers run" },
  "launcher-ready": { by: "launcher", label: "the launcher is ready; the node takes over" },
  prepared: { by: "node-agent", label: "disks, devices and limits are ready for the guest" },
  "network-bound": { by: "node-agent", label: "the Pod's network is connected to the guest" },
  claimed: { by: "node-agent", label: "only this Pod may run the guest" },
  "domain-defined": { by: "launcher", label: "libvirt knows the guest" },
  "guest-running": { by: "launcher", label: "the guest runs" },
  ready: { by: "vmi-controller", label: "the VMI is ready" },
  "agent-connected": { by: "guest", label: "the guest agent answers" },
};

/** Whether a string names a stage. */
export function isStage(value: unknown): value is Stage {
  return stages.some((stage) => stage === value);
}
