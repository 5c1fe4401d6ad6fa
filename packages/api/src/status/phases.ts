import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "../schema/index.ts";
import { at, objects, text } from "../shape.ts";

/** Every phase of a VMI, in the order in which a successful VMI passes through them. */
export const vmiPhases = [
  "",
  "Pending",
  "WaitingForSync",
  "Scheduling",
  "Scheduled",
  "Running",
  "Succeeded",
  "Failed",
  "Unknown",
] as const;

/** The phase of a VMI; empty if no controller has seen the object yet. */
export type VmiPhase = (typeof vmiPhases)[number];

/** Who moves a VMI to a phase. */
export type PhaseWriter = "webhook" | "vmi-controller" | "node-agent" | "node-controller";

/** One step that a VMI may take. */
export interface PhaseTransition {
  readonly from: VmiPhase;
  readonly to: VmiPhase;
  readonly by: readonly PhaseWriter[];
  readonly when: string;
}

/** Every transition that a VMI may make. A final phase has none. */
export const phaseTransitions: readonly PhaseTransition[] = [
  step("", "Pending", ["webhook", "vmi-controller"], "the object is admitted"),
  step(
    "Pending",
    "WaitingForSync",
    ["vmi-controller"],
    "it receives a migration from another cluster or namespace",
  ),
  step("WaitingForSync", "Scheduling", ["vmi-controller"], "the source is synchronised"),
  step("WaitingForSync", "Failed", ["vmi-controller"], "the Pod failed or was removed"),
  step("Pending", "Scheduling", ["vmi-controller"], "a launcher Pod exists"),
  step("Pending", "Failed", ["vmi-controller"], "it is deleted before it has a Pod"),
  step("Scheduling", "Scheduled", ["vmi-controller"], "the Pod is ready; the node owns it now"),
  step("Scheduling", "Failed", ["vmi-controller"], "the Pod failed or was removed"),
  step("Scheduled", "Running", ["node-agent"], "the guest runs or is paused"),
  step("Scheduled", "Succeeded", ["node-agent"], "the guest shut down"),
  step(
    "Scheduled",
    "Failed",
    ["node-agent", "vmi-controller", "node-controller"],
    "the launcher did not answer, its network could not be set up, or its Pod or node is gone",
  ),
  step("Running", "Succeeded", ["node-agent", "vmi-controller"], "the guest shut down"),
  step(
    "Running",
    "Failed",
    ["node-agent", "vmi-controller", "node-controller"],
    "the guest crashed or was destroyed, or its Pod or its node is gone",
  ),
  step("Scheduled", "Unknown", ["node-controller"], "the node does not answer"),
  step("Running", "Unknown", ["node-controller"], "the node does not answer"),
  step("Unknown", "Running", ["node-agent"], "the node answers again"),
  step("Unknown", "Failed", ["vmi-controller", "node-controller"], "the Pod or the node is gone"),
];

/** Whether a transition is in {@link phaseTransitions}. Staying in a phase is not a transition. */
export function mayMove(from: VmiPhase, to: VmiPhase): boolean {
  return phaseTransitions.some((transition) => transition.from === from && transition.to === to);
}

/** The phase of a VMI, or an empty string. */
export function phaseOf(vmi: VirtualMachineInstance | undefined): string {
  return text(at(vmi, "status", "phase"));
}

/** Whether the VMI has ended, successfully or not. */
export function isFinal(vmi: VirtualMachineInstance | undefined): boolean {
  const phase = phaseOf(vmi);
  return phase === "Succeeded" || phase === "Failed";
}

/** Whether the guest runs; a paused guest does. */
export function isRunning(vmi: VirtualMachineInstance | undefined): boolean {
  return phaseOf(vmi) === "Running";
}

/** Whether the guest ever ran, by the recorded transitions. */
export function hasRun(vmi: VirtualMachineInstance | undefined): boolean {
  return objects(at(vmi, "status", "phaseTransitionTimestamps")).some(
    ({ phase }) => phase === "Running",
  );
}

/**
 * The status with another phase, and its timestamp; the same status if the VMI is already in that phase and its
 * timestamp is recorded. Does not check {@link mayMove}.
 */
export function withPhase(
  status: VirtualMachineInstanceStatus,
  phase: VmiPhase,
  now: string,
): VirtualMachineInstanceStatus {
  const recorded = status.phaseTransitionTimestamps ?? [];
  const isRecorded = recorded.some((entry) => entry.phase === phase);
  if (status.phase === phase && isRecorded) return status;
  const entry = { phase, phaseTransitionTimestamp: now };
  return {
    ...status,
    phase,
    phaseTransitionTimestamps: isRecorded ? recorded : [...recorded, entry],
  };
}

function step(
  from: VmiPhase,
  to: VmiPhase,
  by: readonly PhaseWriter[],
  when: string,
): PhaseTransition {
  return { from, to, by, when };
}
