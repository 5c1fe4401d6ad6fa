import type {
  VirtualMachine,
  VirtualMachineCondition,
  VirtualMachineInstance,
  VirtualMachineStatus,
} from "../schema/index.ts";
import { at, isSet, objects, text } from "../shape.ts";
import { conditionsOf, hasCondition, removeCondition, setCondition } from "./conditions.ts";
import { isFinal } from "./phases.ts";
import { claimNameOf, volumesOf } from "./vm-storage.ts";

/**
 * A VM's status after a migration of its volumes: the migration is forgotten once the template names the old
 * volumes again or no longer asks for it, or once it was cancelled. It is `ManualRecoveryRequired` if the VMI
 * disappeared halfway, because then some volumes are behind the others.
 */
export function withVolumeMigration(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): VirtualMachineStatus {
  const status = vm.status ?? {};
  const state = at(status, "volumeUpdateState", "volumeMigrationState");
  if (!isSet(state)) return status;
  const conditions = conditionsOf<VirtualMachineCondition>(vm);
  if (!isAsked(vm) || isRestored(vm, state)) {
    const left = removeCondition(conditions, "VolumesChange");
    const remaining = removeCondition(left, "ManualRecoveryRequired");
    return { ...forgotten(status), conditions: [...remaining] };
  }
  if (!vmi || isFinal(vmi)) {
    if (!hasCondition(conditions, "VolumesChange", "True")) return status;
    return { ...status, conditions: [...setCondition(conditions, recoveryRequired)] };
  }
  const isCancelled = hasCondition(
    conditionsOf(vmi),
    "VolumesChange",
    "False",
    "VolumesChangeCancellation",
  );
  return isCancelled ? forgotten(status) : status;
}

const recoveryRequired: VirtualMachineCondition = {
  type: "ManualRecoveryRequired",
  status: "True",
  // A sentence as a reason: KubeVirt's clients look for it there.
  reason: "VMI was removed or was final during the volume migration",
};

function isAsked(vm: VirtualMachine): boolean {
  return at(vm, "spec", "updateVolumesStrategy") === "Migration";
}

/** Whether every migrated volume of the template names its previous claim. */
function isRestored(vm: VirtualMachine, state: unknown): boolean {
  const sources = new Map(
    objects(at(state, "migratedVolumes"))
      .filter((volume) => isSet(volume["sourcePVCInfo"]))
      .map((volume) => [
        text(volume["volumeName"]),
        text(at(volume, "sourcePVCInfo", "claimName")),
      ]),
  );
  return volumesOf(vm).every((volume) => {
    const source = sources.get(text(volume.name));
    return source === undefined || source === claimNameOf(volume);
  });
}

function forgotten(status: VirtualMachineStatus): VirtualMachineStatus {
  const { volumeMigrationState: _, ...rest } = status.volumeUpdateState ?? {};
  return { ...status, volumeUpdateState: rest };
}
