import type { ObjectMeta, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import type { Plan, PlanError } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { forgetPods } from "./forget-pods.ts";
import { syncVmi } from "./sync-vmi.ts";
import { VmiPass } from "./vmi-pass.ts";
import type { VmiPlanConfig } from "./vmi-plan-config.ts";
import { reportStatus } from "./vmi-status.ts";
import type { VmiView } from "./vmi-view.ts";
import { isHandedOver, vmiWrite } from "./vmi-write.ts";

/** What was decided about a VMI. */
export interface VmiPlan extends Plan {
  /** As it should be; absent if there is no VMI. */
  readonly status?: VirtualMachineInstanceStatus;
  readonly metadata?: ObjectMeta;
  /** Nothing is planned: the decision needs a view that was read live. */
  readonly needsLiveRead?: true;
}

/**
 * Decides what to do about a VMI: its Pods, the Pods that attach its volumes, and its status until
 * a node agent takes over.
 *
 * @param now milliseconds since the epoch.
 * @param outcomes of the first writes, if the plan is made again after a refusal; see `carryOut`
 */
export function planVmi(
  view: VmiView,
  config: VmiPlanConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
): VmiPlan {
  const draft = new PlanDraft(outcomes);
  const pass = view.vmi && new VmiPass(view, view.vmi, config, now, draft);
  const error = pass && decide(pass);
  const isUnsure = forgetEnded(view, config, draft, pass);
  if (isUnsure || pass?.grant?.needsLiveRead) return { ...nothing, needsLiveRead: true };
  return pass ? finish(pass, error) : draft.finish();
}

const nothing: Plan = { writes: [], events: [] };

/** Releases Pods, including those whose VMI is gone. */
function forgetEnded(
  { grant }: VmiView,
  { cluster, profile }: VmiPlanConfig,
  draft: PlanDraft,
  pass: VmiPass | undefined,
): boolean {
  if (!grant) return false;
  const { names } = cluster;
  const { finalizers } = profile;
  const vmiUid = pass?.vmi.metadata?.uid;
  return forgetPods({ view: grant, names, finalizers, vmiUid, grant: pass?.grant?.read }, draft);
}

function decide(pass: VmiPass): PlanError | undefined {
  if (!hasSeenVersion(pass)) {
    stampVersion(pass);
    if (pass.config.stepByStep) return writeVmi(pass);
  }
  if (pass.view.isBehind) return undefined;
  const synced = syncVmi(pass);
  const error = reportStatus(pass, synced) ?? writeVmi(pass);
  if (error) return error;
  const { failure } = synced;
  if (!failure || failure.isWaiting) return undefined;
  return { kind: "sync", reason: failure.reason, message: failure.message };
}

/** Written in this version of the API, so that the API server stores it in this version. */
const apiVersion = "v1";

function hasSeenVersion({ annotations, names }: VmiPass): boolean {
  return annotations[names.annotations.latestObservedApiVersion] === apiVersion;
}

function stampVersion(pass: VmiPass): void {
  const { latestObservedApiVersion, storageObservedApiVersion } = pass.names.annotations;
  pass.annotations = {
    ...pass.annotations,
    [latestObservedApiVersion]: apiVersion,
    [storageObservedApiVersion]: apiVersion,
  };
}

function writeVmi(pass: VmiPass): PlanError | undefined {
  if (pass.isPostponed) return undefined;
  const write = vmiWrite(pass);
  const refusal = write && pass.draft.write(write);
  if (!refusal) return undefined;
  const { reason, message } = refusal;
  return { kind: isHandedOver(pass) ? "other" : "api", reason, message };
}

function finish(pass: VmiPass, error: PlanError | undefined): VmiPlan {
  const { draft, vmi, labels, writtenAnnotations: annotations, finalizers, status } = pass;
  const metadata = { ...vmi.metadata, labels, annotations, finalizers: [...finalizers] };
  return { ...draft.finish(error), status, metadata };
}
