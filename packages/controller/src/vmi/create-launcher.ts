import { discontinuedBindings } from "@virtkit/api/admission";
import { sha256 } from "@virtkit/api/hash";
import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { isSet, text } from "@virtkit/api/shape";
import { isLauncherPodError, type Pod, renderLauncherPod } from "@virtkit/launcher-pod";
import { prepareState } from "./backend-storage.ts";
import type { PodObject } from "./cluster-objects.ts";
import { refuseSharedPaths } from "./container-path.ts";
import type { VolumesReady } from "./data-volumes.ts";
import { createPod } from "./pod-writes.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { lacksTscHint } from "./tsc-frequency.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The outcome of an attempt to create a launcher Pod. */
export interface Creation {
  /** The Pod as requested; the API server may have named it. */
  readonly pod?: PodObject;
  readonly failure?: SyncFailure;
}

/** Phases of a migration in which no second Pod of the VMI runs or is about to run. */
const idleMigration = new Set([
  "",
  "Pending",
  "Synchronizing",
  "WaitingForSync",
  "Succeeded",
  "Failed",
]);

/** Creates the launcher Pod once nothing prevents it. */
export function createLauncher(pass: VmiPass, volumes: VolumesReady): Creation {
  if (!["", "Pending"].includes(pass.vmi.status?.phase ?? "")) return {};
  if (lacksTscHint(pass) || !volumes.areReady) return {};
  if (pass.view.migrations.some(isActive)) {
    return {
      failure: { reason: "FailedCreate", message: "a migration of the VMI is in progress" },
    };
  }
  const state = prepareState(pass);
  if (state === "wait") return {};
  const obstacle = state === "ready" ? (refuseNetworks(pass) ?? refuseSharedPaths(pass)) : state;
  if (obstacle) return { failure: obstacle };
  const rendered = render(pass, volumes.needConsumer);
  if ("reason" in rendered) return { failure: rendered };
  const invalid = refuseBindings(pass);
  if (invalid) return { failure: invalid };
  return create(pass, rendered);
}

/**
 * In a cluster without Multus the Pod would run, but its guest would wait for its networks forever.
 */
function refuseNetworks({ vmi, view }: VmiPass): SyncFailure | undefined {
  if (!view.isWithoutMultus) return undefined;
  const index = (vmi.spec.networks ?? []).findIndex(({ multus }) => isSet(multus));
  if (index < 0) return undefined;
  const message = `spec.networks[${index}].multus: Multus, which gives Pods more networks, is not installed in this cluster; install it, or remove the network`;
  return { reason: "FailedCreate", message };
}

/** A migration to another cluster that is being scheduled has its new Pod there. */
function isActive({ spec, status }: VirtualMachineInstanceMigration): boolean {
  const phase = status?.phase ?? "";
  return !idleMigration.has(phase) && !(phase === "Scheduling" && isSet(spec?.sendTo));
}

/** If volumes wait for a consumer, a Pod that only makes them bind comes first. */
function render(pass: VmiPass, temporary: boolean): Pod | SyncFailure {
  const { vmi, view, config } = pass;
  try {
    const pod = renderLauncherPod(vmi, config.cluster, view.lookup, {
      profile: config.profile,
      temporary,
    });
    return config.podNames === "generated" ? pod : named(pod, pass);
  } catch (error) {
    if (!isLauncherPodError(error)) throw error;
    const { code, path, message } = error;
    if (code !== "LAUNCHER_POD_NOT_FOUND" || !path?.startsWith("spec.volumes")) {
      return { reason: "FailedCreate", message };
    }
    pass.event("Warning", "FailedPvcNotFound", message);
    return { reason: "FailedPvcNotFound", message, isWaiting: true };
  }
}

function named(pod: Pod, { vmi, grant }: VmiPass): Pod {
  const { generateName = "", ...metadata } = pod.metadata;
  const hash = sha256(`${text(vmi.metadata?.uid)}/${grant?.nextEpoch ?? 1}`).slice(0, 10);
  return { ...pod, metadata: { ...metadata, name: `${generateName}${hash}` } };
}

/**
 * A VMI with a kind of network that is no longer supported can be edited and deleted, but not
 * started.
 */
function refuseBindings({ vmi }: VmiPass): SyncFailure | undefined {
  const [cause] = discontinuedBindings(vmi.spec, "spec");
  return cause && { reason: "FailedCreateValidation", message: `${cause.field} ${cause.message}` };
}

function create(pass: VmiPass, pod: Pod): Creation {
  const refusal = createPod(pass, pod);
  if (!refusal) {
    pass.event("Normal", "SuccessfulCreate", "the launcher Pod was created");
    return { pod: pod as PodObject };
  }
  const advice = refusal.message.includes("violates PodSecurity")
    ? "; the namespace must permit privileged Pods"
    : "";
  const message = `the launcher Pod was refused: ${refusal.message}${advice}`;
  pass.event("Warning", "FailedCreate", message);
  return { failure: { reason: "FailedCreate", message } };
}
