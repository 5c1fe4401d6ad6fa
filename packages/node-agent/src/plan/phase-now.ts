import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@virtkit/api/schema";
import { nextPhase } from "../status/next-phase.ts";
import { domainStatusOf } from "./domain-status-of.ts";
import { isReceiver } from "./migration-view.ts";
import { type NodePass, StepFailure } from "./node-pass.ts";

/**
 * The phase that follows from the guest. Where that depends on a launcher that is not there yet, it is asked
 * for again; where it is not known how the launcher stands, nothing follows.
 */
export function phaseNow(
  pass: NodePass,
  vmi: VirtualMachineInstance,
): VirtualMachineInstancePhase | undefined {
  const { names } = pass.view.config;
  const { phase, migrationState } = vmi.status ?? {};
  const { state } = pass.view.launcher;
  if (pass.domain) return nextPhase(vmi, domainStatusOf(pass.domain), phaseOptions(pass));
  if (isReceiver(vmi, names) && migrationState?.failed) return phase;
  if (phase === "Scheduled" && state === "unknown") {
    throw new StepFailure("it is not known how the launcher stands");
  }
  if (phase === "Scheduled" && state === "starting") {
    pass.again({ afterSeconds: 1 });
    return phase;
  }
  return nextPhase(vmi, undefined, phaseOptions(pass));
}

function phaseOptions({ view }: NodePass): Parameters<typeof nextPhase>[2] {
  return {
    migrationTargetAnnotation: view.config.names.annotations.createMigrationTarget,
    launcherIsLost: view.launcher.state === "ended",
    hasFailed: false,
  };
}
