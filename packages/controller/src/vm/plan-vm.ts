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

/** The steps of a pass before the status, in order; the first that stops ends the pass. */
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
 * Decides what to do about a VM: its DataVolumes, starting or stopping its VMI as its run strategy
 * and its requests ask, changes to a running VMI, and its status.
 *
 * The VMI has the VM's name, and the API server allows one object per name, so the creation fails
 * while an older VMI exists. With `view.grant` it is created only after a live read, and the VM
 * remembers it until its run grant has ended.
 *
 * @param now milliseconds since the epoch
 * @param outcomes of the writes so far; see `carryOut`
 *
 * @example
 * ```ts
 * const decide = (outcomes) => planVm({ vm }, clusterConfig(), Date.now(), outcomes);
 * await carryOut(decide, clientTarget(client, { names: names() }));
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
