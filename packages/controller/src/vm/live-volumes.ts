import { isDeepStrictEqual } from "node:util";
import type {
  StorageMigratedVolumeInfo,
  VirtualMachineInstance,
  VirtualMachineInstanceCondition,
  Volume,
} from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { conditionsOf, hasCondition, removeCondition, setCondition } from "@virtkit/api/status";
import { volumesOf } from "@virtkit/api/status/vm";
import type { JsonPatchOperation } from "@virtkit/kube";
import { valuePatch } from "../plan/field-patch.ts";
import { timestamp } from "../plan/timestamp.ts";
import { changedClaims, migratedVolumes, receivedVolumes } from "./migrated-volumes.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";
import { migrationObstacle } from "./volume-obstacles.ts";

/**
 * Moves volumes of a running guest whose claims the template has changed: the VMI gets sources and
 * destinations, and a migration copies the volumes. Changing them back cancels it.
 */
export function changeVolumes(pass: VmPass): Stop | undefined {
  const { vmi } = pass;
  if (!vmi) return undefined;
  const isReceiver = at(pass.view.vm, "spec", "runStrategy") === "WaitAsReceiver";
  const problem = isReceiver ? receive(pass, vmi) : change(pass, vmi);
  return problem === undefined ? undefined : failed("VolumesUpdateError", problem);
}

/** A VMI that waits for a guest from elsewhere names the destinations of the guest's volumes. */
function receive(pass: VmPass, vmi: VirtualMachineInstance): string | undefined {
  const state = at(vmi, "status", "migrationState");
  if (at(state, "completed") === true && at(state, "failed") !== true) return undefined;
  return write(pass, noteVolumes(vmi, receivedVolumes(pass, vmi)));
}

function change(pass: VmPass, vmi: VirtualMachineInstance): string | undefined {
  const claims = changedClaims(pass.vm, vmi);
  const noted = objects<StorageMigratedVolumeInfo>(at(vmi, "status", "migratedVolumes"));
  const isMigrating = hasCondition(conditionsOf(vmi), "VolumesChange", "True");
  if (isMigrating && noted.some(({ volumeName }) => claims.has(text(volumeName)))) {
    return cancel(pass, vmi, noted);
  }
  const strategy = text(at(pass.vm, "spec", "updateVolumesStrategy"));
  if (strategy === "" || strategy === "Replacement") return undefined;
  if (strategy !== "Migration") {
    return `spec.updateVolumesStrategy is ${strategy}; use Replacement or Migration`;
  }
  return claims.size === 0 ? undefined : migrate(pass, vmi);
}

function migrate(pass: VmPass, vmi: VirtualMachineInstance): string | undefined {
  const volumes = migratedVolumes(pass, vmi);
  const obstacle = migrationObstacle(pass, vmi, volumes);
  if (obstacle?.kind === "missing") {
    // A missing claim may still appear: the VMI shows why nothing moves until then.
    return write(pass, conditionsPatch(vmi, volumesChange(pass, { message: obstacle.message })));
  }
  if (obstacle?.kind === "unfit") {
    pass.requireRestart(obstacle.message);
    return undefined;
  }
  const settled = removeCondition(vmiConditions(vmi), "VolumesChange");
  const forgotten = conditionsPatch(vmi, settled);
  if (obstacle) {
    pass.requireRestart(obstacle.message);
    return write(pass, forgotten);
  }
  const problem = write(pass, [
    ...forgotten,
    ...noteVolumes(vmi, volumes),
    ...replaceVolumes(pass, vmi),
  ]);
  if (problem !== undefined) return problem;
  const { volumeUpdateState } = pass.vm.status ?? {};
  const state =
    volumes.length > 0 ? { volumeMigrationState: { migratedVolumes: [...volumes] } } : {};
  pass.vm = {
    ...pass.vm,
    status: { ...pass.vm.status, volumeUpdateState: { ...volumeUpdateState, ...state } },
  };
  return undefined;
}

/**
 * All volumes must go back to their sources; moving back only some would split the guest's data.
 */
function cancel(
  pass: VmPass,
  vmi: VirtualMachineInstance,
  noted: readonly StorageMigratedVolumeInfo[],
): string | undefined {
  const claims = new Map(changedClaims(pass.vm, vmi));
  const isReverted = noted.every(({ volumeName, sourcePVCInfo }) => {
    const name = text(volumeName);
    const isBack = claims.has(name) && claims.get(name) === text(sourcePVCInfo?.claimName);
    return claims.delete(name) && isBack;
  });
  if (!isReverted || claims.size > 0) {
    return "volumes are being moved; until that ends they can only be changed back";
  }
  const conditions = volumesChange(pass, { reason: "VolumesChangeCancellation" });
  return write(pass, [
    ...replaceVolumes(pass, vmi),
    ...conditionsPatch(vmi, conditions),
    ...valuePatch("/status/migratedVolumes", at(vmi, "status", "migratedVolumes"), undefined),
  ]);
}

function write(pass: VmPass, operations: readonly JsonPatchOperation[]): string | undefined {
  const refusal = pass.patchVmi(operations);
  return refusal && `the VMI's volumes could not be changed: ${refusal.message}`;
}

/** Recorded volumes stay as they are: a migration may be copying them. */
function noteVolumes(
  vmi: VirtualMachineInstance,
  volumes: readonly StorageMigratedVolumeInfo[],
): readonly JsonPatchOperation[] {
  const before = at(vmi, "status", "migratedVolumes");
  if (objects(before).length > 0 || volumes.length === 0) return [];
  return valuePatch("/status/migratedVolumes", before, [...volumes]);
}

/** The VMI's volumes with the template's for those that are being moved. */
function replaceVolumes(pass: VmPass, vmi: VirtualMachineInstance): readonly JsonPatchOperation[] {
  const noted = new Set(
    objects(at(vmi, "status", "migratedVolumes")).map(({ volumeName }) => text(volumeName)),
  );
  const declared = new Map(volumesOf(pass.vm).map((volume) => [volume.name, volume]));
  const before = at(vmi, "spec", "volumes");
  const after = objects<Volume>(before).map((volume) =>
    noted.has(volume.name) ? (declared.get(volume.name) ?? volume) : volume,
  );
  return isDeepStrictEqual(before ?? [], after) ? [] : valuePatch("/spec/volumes", before, after);
}

function volumesChange(
  { vmi, now }: VmPass,
  said: { readonly reason?: string; readonly message?: string },
): readonly VirtualMachineInstanceCondition[] {
  return setCondition(vmiConditions(vmi), {
    type: "VolumesChange",
    status: "False",
    lastTransitionTime: timestamp(now),
    ...said,
  });
}

function conditionsPatch(
  vmi: VirtualMachineInstance,
  conditions: readonly VirtualMachineInstanceCondition[],
): readonly JsonPatchOperation[] {
  const before = at(vmi, "status", "conditions");
  if (conditions.length === 0 && objects(before).length === 0) return [];
  return valuePatch("/status/conditions", before, [...conditions]);
}

function vmiConditions(
  vmi: VirtualMachineInstance | undefined,
): readonly VirtualMachineInstanceCondition[] {
  return conditionsOf<VirtualMachineInstanceCondition>(vmi);
}
