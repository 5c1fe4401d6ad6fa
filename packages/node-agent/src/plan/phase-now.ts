import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@virtkit/api/schema";
import { nextPhase } from "../status/next-phase.ts";
import { domainStatusOf } from "./domain-status-of.ts";
import { isReceiver } from "./migration-view.ts";
import { type NodePass, StepFailure } from "./node-pass.ts";

/**
 * The phase that follows from the guest. If that depends on a launcher that does not exist yet, it is asked again;
 * if the launcher's state is not known, nothing follows.
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
    throw new StepFailure("the state of the launcher is not known");
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
