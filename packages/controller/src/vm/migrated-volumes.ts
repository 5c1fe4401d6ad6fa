import type {
  PersistentVolumeClaimInfo,
  StorageMigratedVolumeInfo,
  VirtualMachine,
  VirtualMachineInstance,
  Volume,
} from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { claimNameOf, inNamespaceOf, volumesOf } from "@virtkit/api/status/vm";
import type { VmPass } from "./vm-pass.ts";
import type { Claim } from "./vm-view.ts";

/** The claims in which the template and the VMI differ, by volume name. */
export function changedClaims(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
): ReadonlyMap<string, string> {
  const declared = new Map(volumesOf(vm).map((volume) => [volume.name, claimNameOf(volume)]));
  const changed = new Map<string, string>();
  for (const volume of objects<Volume>(at(vmi, "spec", "volumes"))) {
    const claim = declared.get(volume.name);
    const present = claimNameOf(volume);
    if (claim && present && claim !== present) changed.set(volume.name, claim);
  }
  return changed;
}

/** Sources and destinations of a running guest's volumes. */
export function migratedVolumes(
  pass: VmPass,
  vmi: VirtualMachineInstance,
): readonly StorageMigratedVolumeInfo[] {
  const sources = new Map(
    objects<Volume>(at(vmi, "spec", "volumes")).map((volume) => [volume.name, claimNameOf(volume)]),
  );
  return volumesOf(pass.vm).flatMap((volume) => {
    const [source, target] = [sources.get(volume.name), claimNameOf(volume)];
    if (!source || !target || source === target) return [];
    return [
      {
        volumeName: volume.name,
        destinationPVCInfo: infoOf(target, claimOf(pass, target)),
        sourcePVCInfo: infoOf(source, claimOf(pass, source)),
      },
    ];
  });
}

/** Destinations of the volumes of a guest from elsewhere; its sender provides the sources. */
export function receivedVolumes(
  pass: VmPass,
  vmi: VirtualMachineInstance,
): readonly StorageMigratedVolumeInfo[] {
  const noted = objects<StorageMigratedVolumeInfo>(at(vmi, "status", "migratedVolumes"));
  const sources = new Map(
    noted.map(({ volumeName, sourcePVCInfo }) => [volumeName, sourcePVCInfo]),
  );
  return volumesOf(pass.vm).flatMap((volume) => {
    const name = claimNameOf(volume);
    const claim = name ? claimOf(pass, name) : undefined;
    if (!claim) return [];
    const source = sources.get(volume.name);
    return [
      {
        volumeName: volume.name,
        destinationPVCInfo: infoOf(name, claim),
        ...(source ? { sourcePVCInfo: source } : {}),
      },
    ];
  });
}

/** A claim of the VM's namespace. */
export function claimOf({ vm, view }: VmPass, name: string): Claim | undefined {
  return inNamespaceOf(vm, name, view.claims);
}

function infoOf(claimName: string, claim: Claim | undefined): PersistentVolumeClaimInfo {
  const info = {
    claimName,
    volumeMode: text(claim?.spec?.volumeMode) || undefined,
    accessModes: claim?.spec?.accessModes,
    requests: claim?.spec?.resources?.requests,
    capacity: claim?.status?.capacity,
  };
  const entries = Object.entries(info).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as PersistentVolumeClaimInfo;
}
