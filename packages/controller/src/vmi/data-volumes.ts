import type { Volume } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import type { ClaimObject, DataVolumeObject } from "./cluster-objects.ts";
import { controllerOf } from "./own-pods.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";
import type { VmiView } from "./vmi-view.ts";

/** Whether a volume can be attached: it has its data, or gets it once a Pod consumes it. */
export type VolumeReadiness =
  | "ready"
  /** It is filled only once a Pod on some node uses it. */
  | "waits-for-consumer"
  | "not-ready"
  | { readonly missing: "claim" | "data-volume"; readonly message: string };

/** The claim of a name. */
export function claimNamed({ claims }: VmiView, name: string): ClaimObject | undefined {
  return claims.find(({ metadata }) => metadata?.name === name);
}

/** Whether a volume has its data. */
export function readinessOf(view: VmiView, volume: Volume): VolumeReadiness {
  const name = claimNameOf(volume);
  const claim = claimNamed(view, name);
  if (!claim) return { missing: "claim", message: `claim ${name} does not exist` };
  return claimReadiness(view, claim);
}

/** A claim that no DataVolume fills counts as filled. */
export function claimReadiness(view: VmiView, { metadata }: ClaimObject): VolumeReadiness {
  const owner = controllerOf(metadata);
  if (owner?.kind !== "DataVolume") return "ready";
  const dataVolume = view.dataVolumes.find((each) => each.metadata?.name === owner.name);
  if (!dataVolume) {
    return { missing: "data-volume", message: `DataVolume ${text(owner.name)} does not exist` };
  }
  const phase = text(dataVolume.status?.phase);
  if (phase === "Succeeded" || phase === "PendingPopulation") return "ready";
  return phase === "WaitForFirstConsumer" ? "waits-for-consumer" : "not-ready";
}

/**
 * The DataVolumes behind the VMI's volumes: those that it names, and those that fill its claims.
 */
export function dataVolumesOf({ view, vmi }: VmiPass): readonly DataVolumeObject[] {
  return (vmi.spec.volumes ?? []).flatMap((volume) => {
    const name = dataVolumeName(view, volume);
    return view.dataVolumes.find(({ metadata }) => name && metadata?.name === name) ?? [];
  });
}

function dataVolumeName(view: VmiView, volume: Volume): string {
  const { persistentVolumeClaim, dataVolume } = volume;
  if (!persistentVolumeClaim) return text(dataVolume?.name);
  const owner = controllerOf(claimNamed(view, persistentVolumeClaim.claimName)?.metadata);
  return owner?.kind === "DataVolume" ? text(owner.name) : "";
}

/** Whether the guest's initial volumes are ready. */
export interface VolumesReady {
  readonly areReady: boolean;
  /** Some volume is filled only once a Pod consumes it. */
  readonly needConsumer: boolean;
  readonly failure?: SyncFailure;
}

/** Checks the volumes that the guest starts with; hotplugged ones may come later. */
export function volumesReady(pass: VmiPass): VolumesReady {
  const states = [];
  for (const volume of (pass.vmi.spec.volumes ?? []).filter(isNeededAtStart)) {
    const state = readinessOf(pass.view, volume);
    if (typeof state === "object") {
      const failure = missingVolume(pass, state);
      return { areReady: false, needConsumer: false, failure };
    }
    states.push(state);
  }
  return {
    areReady: !states.includes("not-ready"),
    needConsumer: states.includes("waits-for-consumer"),
  };
}

function isNeededAtStart({ dataVolume, persistentVolumeClaim }: Volume): boolean {
  return (
    (dataVolume !== undefined && dataVolume.hotpluggable !== true) ||
    (persistentVolumeClaim !== undefined && persistentVolumeClaim.hotpluggable !== true)
  );
}

function missingVolume(
  pass: VmiPass,
  { missing, message }: Extract<VolumeReadiness, object>,
): SyncFailure {
  if (missing === "claim") {
    pass.event("Normal", "FailedPvcNotFound", `${message}; waiting for it to appear`);
    return { reason: "FailedPvcNotFound", message, isWaiting: true };
  }
  pass.event("Warning", "FailedPvcNotFound", message);
  return { reason: "FailedDataVolumeImport", message };
}

/** Shows in one condition whether all DataVolumes of the VMI have their data. */
export function reportDataVolumes(pass: VmiPass, dataVolumes: readonly DataVolumeObject[]): void {
  if (dataVolumes.length === 0) return;
  const states = dataVolumes.map(
    (each) => findCondition(conditionsOf(each), "Ready")?.status ?? "Unknown",
  );
  const lacking = states.filter((status) => status !== "True");
  const [first] = lacking;
  pass.setCondition({
    type: "DataVolumesReady",
    status: lacking.includes("False") ? "False" : (first ?? "True"),
    reason: first === undefined ? "AllDVsReady" : "NotAllDVsReady",
    message:
      first === undefined
        ? "every DataVolume has its data"
        : `${lacking.length} of ${states.length} DataVolumes do not have their data yet`,
  });
}
