import type { Metrics } from "@virtkit/api/observe";
import { at, objects, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import type { CacheChange } from "@virtkit/kube/cache";

/** A phase that an object has entered, and when, in milliseconds since the epoch. */
interface Entered {
  readonly phase: string;
  readonly at: number;
}

/** Names of the histograms for one kind. */
export interface PhaseHistograms {
  readonly fromCreation: string;
  readonly fromDeletion?: string;
  readonly fromLast?: string;
}

/** KubeVirt's histograms of the time that VMIs take from phase to phase. */
export const vmiPhaseHistograms: PhaseHistograms = {
  fromCreation: "kubevirt_vmi_phase_transition_time_from_creation_seconds",
  fromDeletion: "kubevirt_vmi_phase_transition_time_from_deletion_seconds",
  fromLast: "kubevirt_vmi_phase_transition_time_seconds",
};

/** The same for migrations. */
export const migrationPhaseHistograms: PhaseHistograms = {
  fromCreation: "kubevirt_vmi_migration_phase_transition_time_from_creation_seconds",
};

/**
 * Measures how long objects take from phase to phase, by the timestamps in their status. For
 * `Cache.subscribe`. Objects that exist at the start are skipped: an earlier process has measured
 * them.
 */
export function phaseTimes(
  { fromCreation, fromDeletion, fromLast }: PhaseHistograms,
  metrics: Metrics,
): (change: CacheChange<KubeObject>) => void {
  return ({ type, old, object }) => {
    if (type !== "updated" || !old || !object) return;
    const known = phasesOf(old).length;
    const all = phasesOf(object);
    const created = Date.parse(text(object.metadata.creationTimestamp));
    const deleted = Date.parse(text(object.metadata.deletionTimestamp));
    const tell = (name: string | undefined, since: number, entered: Entered, labels = {}): void => {
      const seconds = (entered.at - since) / 1000;
      if (name === undefined || Number.isNaN(seconds) || seconds < 0) return;
      metrics.observe(name, seconds, { phase: entered.phase, ...labels });
    };
    for (const [index, entered] of all.entries()) {
      if (index < known) continue;
      const last = all[index - 1];
      tell(fromCreation, created, entered);
      tell(fromDeletion, deleted, entered);
      if (last) tell(fromLast, last.at, entered, { last_phase: last.phase });
    }
  };
}

function phasesOf(object: KubeObject): readonly Entered[] {
  return objects(at(object, "status", "phaseTransitionTimestamps")).map((each) => ({
    phase: text(each["phase"]),
    at: Date.parse(text(each["phaseTransitionTimestamp"])),
  }));
}
