import type { PodAffinityTerm, Volume } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import type { Step } from "../pod-draft.ts";
import { claimNameOf } from "../volumes/claim-name.ts";
import { foreignNames } from "../well-known.ts";

/**
 * Keeps guests with SCSI reservations on the same claim off the same node: there both would be one initiator,
 * and the reservation would mean nothing. Each claim is a label; Pods with that label are kept apart.
 */
export const reservationAffinity: Step = (request, draft) => {
  const keys = reservationLabels(request);
  if (keys.size === 0) return;
  const terms: PodAffinityTerm[] = [];
  for (const key of keys) {
    draft.labels[key] = "";
    request.explain?.(part.label(key), "vmi.spec.domain.devices.disks", "a LUN takes reservations");
    terms.push({
      labelSelector: { matchExpressions: [{ key, operator: "Exists" }] },
      topologyKey: foreignNames.hostname,
    });
  }
  const apart = draft.affinity?.podAntiAffinity;
  draft.affinity = {
    ...draft.affinity,
    podAntiAffinity: {
      ...apart,
      requiredDuringSchedulingIgnoredDuringExecution: [
        ...(apart?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
        ...terms,
      ],
    },
  };
  request.explain?.(
    "spec.affinity.podAntiAffinity",
    "vmi.spec.domain.devices.disks",
    "not beside another guest that takes reservations on the same claim",
  );
};

function reservationLabels({
  spec,
  devices,
  lookup,
  names,
  namespace,
}: LauncherRequest): Set<string> {
  const keys = new Set<string>();
  const reserving = devices.disks?.filter(({ lun }) => lun?.reservation) ?? [];
  if (reserving.length === 0) return keys;
  const volumes = new Map<string, Volume>(spec.volumes?.map((volume) => [volume.name, volume]));
  for (const { name } of reserving) {
    const volume = volumes.get(name);
    const claimName = volume && claimNameOf(volume);
    const claim = claimName ? lookup.persistentVolumeClaim(namespace, claimName) : undefined;
    if (claim) keys.add(`${names.labels.persistentReservation}${claim.metadata.uid ?? ""}`);
  }
  return keys;
}
