import type { Names } from "@virtkit/api/names";
import { sameJson } from "@virtkit/api/network";
import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import type { JsonPatchOperation } from "@virtkit/kube";
import { apiError } from "../plan/api-error.ts";
import { fieldPatch, valuePatch, versionTest } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { created } from "../vmi/own-pods.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { isFinalMigration, phaseOf } from "./migration-phase.ts";

/** Updates the migration's status, and releases a migration that is finished. */
export function writeStatus(pass: MigrationPass): PlanError | undefined {
  reportOtherCluster(pass);
  noteAddresses(pass);
  const isChanged = !sameJson(pass.before, pass.status) && !canWait(pass);
  return (isChanged ? write(pass) : undefined) ?? letGo(pass, isChanged);
}

/** A phase that is about to end is not worth a write. */
function canWait(pass: MigrationPass): boolean {
  if (pass.isStepwise || (pass.status.conditions ?? []).length > 0) return false;
  const { phase } = pass.status;
  if (phase === "TargetReady") return pass.before.phase === "PreparingTarget";
  if (phase === "Scheduling") return isTargetNew(pass);
  const isTargetOnItsWay = pass.createsTarget || pass.view.isBehind === true;
  return phase === "Pending" && pass.before.phase === undefined && isTargetOnItsWay;
}

/**
 * How long a new target Pod may take before the migration shows that it waits. Object times are
 * whole seconds.
 */
const patienceSeconds = 3;

/**
 * With a Pod that is ready soon, one write takes its migration from nothing to `PreparingTarget`.
 */
function isTargetNew(pass: MigrationPass): boolean {
  const { targetPod, before, now } = pass;
  if (before.phase !== undefined || !targetPod) return false;
  const left = created(targetPod) / 1000 + patienceSeconds - now / 1000;
  if (left <= 0) return false;
  pass.recheck(Math.ceil(left));
  return true;
}

/** The addresses at which another cluster reaches this one. */
function noteAddresses(pass: MigrationPass): void {
  const { synchronizationAddresses: _, ...status } = pass.status;
  const { synchronizationAddresses: addresses } = pass.view;
  pass.status = addresses ? { ...status, synchronizationAddresses: [...addresses] } : status;
}

/** Shows people what keeps two clusters from agreeing. */
function reportOtherCluster(pass: MigrationPass): void {
  const type = "decentralizedMigrationBlocked";
  const failure = findCondition(conditionsOf(pass.vmi), "DecentralizedLiveMigrationFailure");
  if (!failure) {
    pass.removeCondition(type);
    return;
  }
  const { reason, message } = failure;
  pass.setCondition({
    type,
    status: "True",
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  });
}

/** Records when a phase was reached and, in the first one, which Pod the guest leaves. */
export function notePhase(pass: MigrationPass): void {
  const { phase = "", phaseTransitionTimestamps: times = [] } = pass.status;
  if (phase !== phaseOf(pass.migration) && !times.some((each) => each.phase === phase)) {
    const noted = { phase, phaseTransitionTimestamp: pass.time };
    pass.status = { ...pass.status, phaseTransitionTimestamps: [...times, noted] };
  }
  const { sourcePod } = pass;
  if (phase !== "Pending" || !sourcePod) return;
  const state = { ...pass.status.migrationState, sourcePod: text(sourcePod.metadata?.name) };
  pass.status = { ...pass.status, migrationState: state };
}

function write({ draft, view, status, resources }: MigrationPass): PlanError | undefined {
  const { migration } = view;
  const refusal = draft.write({
    kind: "patch",
    resource: resources.migrations,
    object: nameOf(migration),
    subresource: "status",
    operations: [
      ...versionTest(migration),
      ...fieldPatch("/status", migration?.status, { ...status }),
    ],
  });
  return refusal && apiError(refusal);
}

/** Releases a migration that is finished. */
function letGo(
  { draft, migration, names, resources }: MigrationPass,
  isWritten: boolean,
): PlanError | undefined {
  if (!isFinalMigration(migration)) return undefined;
  const operations = releaseOf(migration, names, isWritten);
  if (!operations) return undefined;
  const refusal = draft.write({
    kind: "patch",
    resource: resources.migrations,
    object: nameOf(migration),
    operations,
  });
  return refusal && apiError(refusal);
}

/**
 * Takes the finalizer from a migration that nobody needs any more; undefined if it does not have it.
 *
 * @param isWritten whether the same pass has written it, so that its version is not the one that was read
 */
export function releaseOf(
  migration: VirtualMachineInstanceMigration,
  names: Names,
  isWritten = false,
): readonly JsonPatchOperation[] | undefined {
  const { finalizers = [] } = migration.metadata ?? {};
  const left = finalizers.filter((each) => each !== names.finalizers.migration);
  if (left.length === finalizers.length) return undefined;
  return [
    ...(isWritten ? [] : versionTest(migration)),
    ...valuePatch("/metadata/finalizers", finalizers, left),
  ];
}
