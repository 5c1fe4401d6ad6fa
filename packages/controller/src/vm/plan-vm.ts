import { PlanDraft } from "../plan/plan-draft.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { claimDataVolumes, claimVmi } from "./claim-vmi.ts";
import { createDataVolumes } from "./data-volumes.ts";
import { deleteVm } from "./delete-vm.ts";
import { bumpGeneration } from "./generation.ts";
import { syncInstancetypes } from "./instancetype-policy.ts";
import { liveUpdates } from "./live-update.ts";
import { noteVersion, prepareVm, protectVm } from "./protect-vm.ts";
import { followRunStrategy } from "./run-strategy.ts";
import { settleVm, type VmPlan } from "./settle-vm.ts";
import { readStartSpec } from "./start-spec.ts";
import { type Step, VmPass } from "./vm-pass.ts";
import type { VmConfig, VmOptions, VmPassView } from "./vm-view.ts";

/** What a pass does before the status, in this order; the first that stops ends it. */
const steps: readonly Step[] = [
  prepareVm,
  noteVersion,
  claimVmi,
  claimDataVolumes,
  ({ isUpToDate }) => (isUpToDate ? undefined : { kind: "settle" }),
  readStartSpec,
  deleteVm,
  protectVm,
  bumpGeneration,
  syncInstancetypes,
  createDataVolumes,
  followRunStrategy,
  liveUpdates,
];

/**
 * What a VM calls for now: its DataVolumes, its VMI started or stopped as its run strategy and its requests
 * ask, changes carried over to a VMI that runs, and its status.
 *
 * A VMI is created under the VM's name, which the API server gives to one object at a time, so an older VMI
 * that is still there makes the creation fail. With `view.grant` it is created only after a live read, and the VM
 * remembers it until its run grant has ended.
 *
 * @param now milliseconds since the epoch
 * @param outcomes of the writes so far, see `carryOut`
 *
 * @example
 * ```ts
 * const decide = (outcomes) => planVm({ vm }, clusterConfig(), Date.now(), outcomes);
 * await carryOut(decide, clientTarget(client, { subresources: names().groups.subresources }));
 * ```
 */
export function planVm(
  view: VmPassView,
  config: VmConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
  options: VmOptions = {},
): VmPlan {
  const draft = new PlanDraft(outcomes);
  const pass = new VmPass(view, config, now, { draft, options });
  const plan = takeSteps(pass);
  return pass.needsLiveRead ? { writes: [], events: [], needsLiveRead: true } : plan;
}

function takeSteps(pass: VmPass): VmPlan {
  for (const step of steps) {
    const stop = step(pass);
    if (stop?.kind === "end") return pass.draft.finish(stop.error);
    if (stop) return settleVm(pass, stop.kind === "failed" ? stop : undefined);
  }
  return settleVm(pass, undefined);
}
