import { text } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";
import { findStateClaim, needsStateClaim, stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { apiError } from "../plan/api-error.ts";
import { derivedName } from "../plan/derived-name.ts";
import { jsonPointer } from "../plan/json-pointer.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { claimResource } from "../plan/resources.ts";
import { isStateVolume, newStateClaim } from "../vmi/backend-storage.ts";
import type { ClaimObject } from "../vmi/cluster-objects.ts";
import { failedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { isDecentralized, isReceiver } from "./migration-phase.ts";

/**
 * Provides a claim for the state of the guest's TPM and firmware at the target. A claim that many
 * nodes can mount serves both sides; otherwise the target gets its own, which becomes the guest's
 * after the move.
 */
export function prepareTargetState(pass: MigrationPass): "ready" | "wait" | PlanError {
  const { vmi, migration } = pass;
  if (!needsStateClaim(vmi)) return "ready";
  const hasSource = !isReceiver(migration) || vmi.status?.migrationState?.completed === true;
  const source = hasSource ? currentClaimName(pass) : "";
  if (hasSource && source === "") {
    return failedPass("the VMI's status does not name the claim with the guest's state");
  }
  const known = pass.status.migrationState?.targetPersistentStatePVCName;
  const present = targetClaim(pass);
  const target = present ? nameOf(present).name : text(known);
  if (target !== "") {
    noteClaims(pass, source, target);
    return "ready";
  }
  const shared = findStateClaim(pass.view.claims, text(vmi.metadata?.name));
  if (shared?.status?.accessModes?.[0] === "ReadWriteMany") {
    noteClaims(pass, source, nameOf(shared).name);
    return source === nameOf(shared).name ? "ready" : "wait";
  }
  return createClaim(pass, source);
}

function createClaim(pass: MigrationPass, source: string): "wait" | PlanError {
  const { vmi, view, config, names, name, uid, draft } = pass;
  noteClaims(pass, source, "");
  const labels = { [names.labels.migrationName]: name };
  const object = newStateClaim({ vmi, view, config }, labels);
  if (!object) {
    return failedPass(
      "there is no default StorageClass; set vmStateStorageClass, or mark a StorageClass as default",
    );
  }
  const claim = config.podNames === "generated" ? object : derivedName(object, uid);
  const refusal = draft.write({ kind: "create", resource: claimResource, object: claim });
  if (refusal) return apiError(refusal);
  noteClaims(pass, source, text(claim.metadata.name));
  return "wait";
}

/** The claim that the VMI's status names. */
function currentClaimName({ vmi }: MigrationPass): string {
  const volume = (vmi.status?.volumeStatus ?? []).find(isStateVolume);
  return text(volume?.persistentVolumeClaimInfo?.claimName);
}

/** The target's own claim, by the migration's status or by its label. */
function targetClaim(pass: MigrationPass): ClaimObject | undefined {
  const named = pass.status.migrationState?.targetPersistentStatePVCName;
  return named ? pass.view.claims.find((each) => nameOf(each).name === named) : labelledClaim(pass);
}

function labelledClaim({ view, names, name }: MigrationPass): ClaimObject | undefined {
  return view.claims.find(
    ({ metadata }) => metadata?.labels?.[names.labels.migrationName] === name,
  );
}

function noteClaims(pass: MigrationPass, source: string, target: string): void {
  pass.status = {
    ...pass.status,
    migrationState: {
      ...pass.status.migrationState,
      ...(source ? { sourcePersistentStatePVCName: source } : {}),
      ...(target ? { targetPersistentStatePVCName: target } : {}),
    },
  };
}

/** The claims of both sides; undefined if they are the same, or if the target has none. */
function apart({ migration }: MigrationPass): { source: string; target: string } | undefined {
  const { sourcePersistentStatePVCName, targetPersistentStatePVCName } =
    migration.status?.migrationState ?? {};
  const source = text(sourcePersistentStatePVCName);
  const target = text(targetPersistentStatePVCName);
  return target === "" || source === target ? undefined : { source, target };
}

/** The guest did not move: deletes what was made for its state at the target. */
export function dropTargetState(pass: MigrationPass): PlanError | undefined {
  const claims = apart(pass);
  return claims && deleteClaim(pass, claims.target);
}

/** The guest has moved: the target's claim becomes the guest's, and the source's is deleted. */
export function moveState(pass: MigrationPass): PlanError | undefined {
  const { migration, draft, names, name, namespace } = pass;
  const { sourcePersistentStatePVCName: source, targetPersistentStatePVCName: target } =
    migration.status?.migrationState ?? {};
  if (!target || (!source && !isDecentralized(migration))) {
    return failedPass("the migration's status does not name the claims with the guest's state");
  }
  if (source === target) return undefined;
  const vmiName = text(migration.spec?.vmiName);
  const claim = labelledClaim(pass);
  if (!claim) {
    // A pass that was cut off right after it had labelled the claim left the rest to this one.
    if (isOfGuest(pass, target, vmiName)) return source ? deleteClaim(pass, source) : undefined;
    return failedPass("the claim with the guest's state at the target does not exist");
  }
  const owner = claim.metadata?.labels?.[stateClaimLabel];
  if (owner !== undefined && owner !== vmiName) {
    return failedPass(`the claim with the guest's state at the target belongs to VMI ${owner}`);
  }
  const mark = jsonPointer("metadata", "labels", names.labels.migrationName);
  const operations: readonly JsonPatchOperation[] = [
    { op: "test", path: mark, value: name },
    { op: "add", path: jsonPointer("metadata", "labels", stateClaimLabel), value: vmiName },
    { op: "remove", path: mark },
  ];
  const refusal = draft.write({
    kind: "patch",
    resource: claimResource,
    object: { namespace, name: target },
    operations,
  });
  if (refusal) return failedPass(`claim ${target} could not be labelled: ${refusal.message}`);
  return source ? deleteClaim(pass, source) : undefined;
}

/** Whether a claim is labelled as the one with the state of the guest. */
function isOfGuest({ view }: MigrationPass, name: string, vmiName: string): boolean {
  const claim = view.claims.find((each) => nameOf(each).name === name);
  return claim?.metadata?.labels?.[stateClaimLabel] === vmiName;
}

/** A claim that the view does not show is gone, or will be shown later. */
function deleteClaim({ view, draft }: MigrationPass, name: string): PlanError | undefined {
  const claim = view.claims.find((each) => nameOf(each).name === name);
  if (!claim) return undefined;
  const refusal = draft.write({
    kind: "delete",
    resource: claimResource,
    object: nameOf(claim),
    uid: uidOf(claim),
  });
  return refusal && failedPass(`claim ${name} could not be deleted: ${refusal.message}`);
}
