import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { isRunning } from "@virtkit/api/status";
import type { KubeObject } from "@virtkit/kube";
import {
  isLauncherPodError,
  type Pod,
  renderLauncherPod,
  renderMigrationTargetPod,
} from "@virtkit/launcher-pod";
import { migrationPriority, requeueDelaySeconds } from "@virtkit/migration/policy";
import { apiError } from "../plan/api-error.ts";
import { ControllerError } from "../plan/controller-error.ts";
import { derivedName } from "../plan/derived-name.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { podResource } from "../plan/resources.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { isControlledBy } from "../vmi/own-pods.ts";
import { isDown } from "../vmi/pod-state.ts";
import { withoutPersistentState } from "./between-clusters.ts";
import { failedPass, isFailedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { isReceiver } from "./migration-phase.ts";
import { hasFreePlace } from "./parallel-limits.ts";
import { setRuntimeUser } from "./runtime-user.ts";
import { prepareTargetState } from "./target-state.ts";

/** Seconds until the next look at the cluster's Pods if a created Pod is not visible yet. */
const settleSeconds = 1;

/** Creates the target Pod as soon as it is the migration's turn. */
export function createTarget(pass: MigrationPass): PlanError | undefined {
  const source = sourceFor(pass);
  if (!source || isFailedPass(source)) return source;
  const { vmi, failure } = setRuntimeUser(pass);
  if (failure) return failure;
  if (pass.view.isAnyBehind || hasSeveralPods(pass)) {
    pass.wait(settleSeconds);
    return undefined;
  }
  if (!hasFreePlace(pass)) {
    pass.wait(requeueDelaySeconds(migrationPriority(pass.migration)));
    return undefined;
  }
  // A guest that does not run yet moves once it runs.
  if (!isRunning(pass.vmi) && !isReceiver(pass.migration)) return undefined;
  const state = prepareTargetState(pass);
  if (state === "wait") return undefined;
  if (state !== "ready") return state;
  return create(pass, vmi, source);
}

/**
 * The Pod that the guest runs in. For a guest of another cluster this is a Pod as it would be made
 * here.
 */
function sourceFor(pass: MigrationPass): PodObject | PlanError | undefined {
  if (!isReceiver(pass.migration)) return pass.sourcePod;
  const { vmi, view, config } = pass;
  if (!vmi.status?.migrationState?.sourceState) {
    const path = "status.migrationState.sourceState";
    const message = `VMI ${text(vmi.metadata?.name)} does not describe the source (${path} is missing)`;
    throw new ControllerError("CONTROLLER_PASS_INCOMPLETE", message, { path });
  }
  return rendered(() =>
    renderLauncherPod(withoutPersistentState(vmi), config.cluster, view.lookup, {
      profile: config.profile,
    }),
  );
}

/** Waits for Pods of an earlier migration or of another cluster. */
function hasSeveralPods({ view, vmi }: MigrationPass): boolean {
  return view.pods.filter((pod) => isControlledBy(pod, vmi) && !isDown(pod)).length > 1;
}

function create(
  pass: MigrationPass,
  vmi: VirtualMachineInstance,
  source: PodObject,
): PlanError | undefined {
  const pod = rendered(() => render(pass, vmi, source));
  if (isFailedPass(pod)) return pod;
  const object = { ...pod, metadata: { ...pod.metadata, namespace: pass.namespace } } as KubeObject;
  const refusal = pass.draft.write({ kind: "create", resource: podResource, object });
  if (!refusal) {
    pass.createsTarget = true;
    pass.event("Normal", "SuccessfulCreate", "the target Pod was created");
    return undefined;
  }
  const isTooPrivileged = refusal.message.includes("violates PodSecurity");
  const advice = isTooPrivileged ? "; the namespace must permit privileged Pods" : "";
  const message = `the target Pod was refused: ${refusal.message}${advice}`;
  pass.vmiEvent("Warning", "FailedCreate", message);
  return isTooPrivileged ? { ...apiError(refusal), message } : failedPass(message);
}

function render(pass: MigrationPass, vmi: VirtualMachineInstance, pod: PodObject): Pod {
  const { migration, view, config } = pass;
  const node = view.nodes().find((each) => nameOf(each).name === vmi.status?.nodeName);
  const target = renderMigrationTargetPod(
    vmi,
    { ...migration, status: pass.status },
    { pod, ...(node ? { node } : {}) },
    config.cluster,
    view.lookup,
    { profile: config.profile },
  );
  return config.podNames === "generated" ? target : derivedName(target, pass.uid);
}

function rendered(render: () => Pod): Pod | PlanError {
  try {
    return render();
  } catch (error) {
    if (!isLauncherPodError(error)) throw error;
    return failedPass(`the target Pod cannot be rendered: ${error.message}`);
  }
}
