import { networkMigrationRequirement } from "@virtkit/api/network";
import { quantityFrom } from "@virtkit/api/quantity";
import { text } from "@virtkit/api/shape";
import { claimNameOf, vcpuCount } from "@virtkit/launcher-pod/traits";
import type { PodObject } from "./cluster-objects.ts";
import type { VmiPass } from "./vmi-pass.ts";

const pendingMigrationSeconds = 10;

/** Records which changes of the spec need a migration. */
export function reportHotChanges(pass: VmiPass, pod: PodObject): void {
  if (changesCpus(pass)) markChange(pass, "HotVCPUChange");
  if (changesMemory(pass)) {
    markChange(pass, "HotMemoryChange");
    const ratio = pass.config.cluster.additionalGuestMemoryOverheadRatio;
    const label = pass.names.labels.memoryHotplugOverheadRatio;
    if (ratio !== undefined) pass.labels = { ...pass.labels, [label]: ratio };
  }
  if (changesVolumes(pass)) markChange(pass, "VolumesChange");
  reportNetworkChange(pass, pod);
}

function markChange(pass: VmiPass, type: string): void {
  if (!pass.condition(type)) pass.setCondition({ type, status: "True" });
}

function changesCpus({ vmi, status }: VmiPass): boolean {
  const { cpu } = vmi.spec.domain;
  const { currentCPUTopology: current } = status;
  if (!cpu?.maxSockets || !current) return false;
  return vcpuCount(cpu) !== vcpuCount(current);
}

function changesMemory({ vmi, status }: VmiPass): boolean {
  const { guest, maxGuest } = vmi.spec.domain.memory ?? {};
  const requested = status.memory?.guestRequested;
  if (guest === undefined || maxGuest === undefined || requested === undefined) return false;
  return quantityFrom(guest).value() !== quantityFrom(requested).value();
}

/** Whether the spec has a claim that is not the source of a recorded volume migration. */
function changesVolumes({ vmi, status }: VmiPass): boolean {
  const migrated = status.migratedVolumes ?? [];
  if (migrated.length === 0) return false;
  const sources = new Set(migrated.map(({ sourcePVCInfo }) => sourcePVCInfo?.claimName));
  return (vmi.spec.volumes ?? [])
    .map(claimNameOf)
    .some((claim) => claim !== "" && !sources.has(claim));
}

function reportNetworkChange(pass: VmiPass, pod: PodObject): void {
  const { vmi, status } = pass;
  if (isMigrating(pass)) return;
  const type = "MigrationRequired";
  const requirement = networkMigrationRequirement({ ...vmi, status }, pod, pass.now);
  if (requirement === "Unknown") {
    pass.removeCondition(type);
    return;
  }
  if (pass.condition(type)?.status === "True") return;
  const reason = requirement === "True" ? "AutoMigrationDueToLiveUpdate" : "AutoMigrationPending";
  pass.setCondition({ type, status: requirement, reason });
  // Nothing may change until the time for a plug without a migration is over.
  if (requirement === "False") pass.draft.requeueAfter(pendingMigrationSeconds);
}

function isMigrating({ vmi, now }: VmiPass): boolean {
  const { startTimestamp, endTimestamp } = vmi.status?.migrationState ?? {};
  const isPast = (time: string | null | undefined): boolean =>
    Boolean(time) && Date.parse(text(time)) <= now;
  return isPast(startTimestamp) && !isPast(endTimestamp);
}
