import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";

/** What a phase follows from besides the VMI and its domain. */
export interface PhaseOptions {
  /** Key of the annotation of a VMI that was created to receive a migration. */
  readonly migrationTargetAnnotation: string;
  /** Whether the launcher has been silent for too long. */
  readonly launcherIsLost: boolean;
  /** Whether the node failed to start the guest and will not try again. */
  readonly hasFailed: boolean;
}

type Phase = VirtualMachineInstancePhase | undefined;

/** The current phase of a VMI that has not ended; an `undefined` domain means that libvirt knows none. */
export function nextPhase(
  vmi: VirtualMachineInstance,
  domain: DomainStatus | undefined,
  options: PhaseOptions,
): Phase {
  return domain ? withDomain(vmi, domain) : withoutDomain(vmi, options);
}

function withoutDomain(
  { metadata, status }: VirtualMachineInstance,
  { migrationTargetAnnotation, launcherIsLost, hasFailed }: PhaseOptions,
): Phase {
  if (hasFailed) return "Failed";
  const isTarget = metadata?.annotations?.[migrationTargetAnnotation] === "true";
  // The controller decides what a failed migration leaves.
  if (isTarget && status?.migrationState?.failed) return status.phase;
  if (status?.phase === "Running") return isTarget ? "WaitingForSync" : "Failed";
  return status?.phase === "Scheduled" && launcherIsLost && !isTarget ? "Failed" : "Scheduled";
}

function withDomain(vmi: VirtualMachineInstance, domain: DomainStatus): Phase {
  const phase = vmi.status?.phase;
  switch (domain.state) {
    case "Running":
    case "Blocked":
    case "PMSuspended":
      return "Running";
    case "Paused":
      return pausedPhase(domain.reason, phase);
    case "Shutoff":
    case "Crashed":
      return endedPhase(vmi, domain);
    default:
      return phase;
  }
}

function pausedPhase(reason: string, phase: Phase): Phase {
  switch (reason) {
    case "PostcopyFailed":
      // Part of the guest's memory is on a node that no longer sends it.
      return "Failed";
    case "StartingUp":
    case "Migration":
    case "Postcopy":
      return phase;
    default:
      return "Running";
  }
}

function endedPhase({ spec, status }: VirtualMachineInstance, domain: DomainStatus): Phase {
  switch (domain.reason) {
    case "Shutdown":
    case "Saved":
    case "FromSnapshot":
      return "Succeeded";
    case "Crashed":
    case "Panicked":
      return "Failed";
    case "Destroyed": {
      const { failed, mode } = status?.migrationState ?? {};
      if (failed && mode === "PostCopy") return "Failed";
      // It could have been asked to shut down, but was killed.
      const hadGrace = domain.hardware?.acpi === true && spec.terminationGracePeriodSeconds !== 0;
      return hadGrace ? "Failed" : "Succeeded";
    }
    default:
      // Migrated: the target reports the phase. Other reasons say nothing about how it ended.
      return status?.phase;
  }
}
