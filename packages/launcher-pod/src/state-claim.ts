import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import type { ClusterLookup, PersistentVolumeClaim } from "./cluster-lookup.ts";
import { needsStateClaim } from "./guest-traits.ts";
import { LauncherPodError } from "./launcher-pod-error.ts";
import { vmiIdentity } from "./vmi-identity.ts";
import { stateClaimLabel } from "./well-known.ts";

/**
 * Name of the claim with a VMI's persistent state; empty if it needs none. The claim is found by its label, or
 * by the name that claims had before there was one. Throws while there is none.
 */
export function stateClaimOf(vmi: VirtualMachineInstance, lookup: ClusterLookup): string {
  if (!needsStateClaim(vmi)) return "";
  const { name, namespace } = vmiIdentity(vmi);
  let unlabelled: string | undefined;
  for (const { metadata } of lookup.persistentVolumeClaims(namespace)) {
    if (metadata.deletionTimestamp) continue;
    if (metadata.labels?.[stateClaimLabel] === name) return metadata.name ?? "";
    if (metadata.name === `${stateClaimLabel}-${name}`) unlabelled = metadata.name;
  }
  return unlabelled ?? missing(namespace);
}

/** The same for the target of a migration, which may have its own claim. */
export function targetStateClaimOf(
  vmi: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
  lookup: ClusterLookup,
  names: Names,
): string {
  if (!needsStateClaim(vmi)) return "";
  const { namespace = "" } = migration.metadata ?? {};
  const claim = targetClaim(migration, namespace, lookup, names);
  return claim?.metadata.name ?? missing(namespace);
}

function targetClaim(
  { metadata, status }: VirtualMachineInstanceMigration,
  namespace: string,
  lookup: ClusterLookup,
  { labels }: Names,
): PersistentVolumeClaim | undefined {
  const named = status?.migrationState?.targetPersistentStatePVCName;
  if (named) return lookup.persistentVolumeClaim(namespace, named);
  const { name = "" } = metadata ?? {};
  for (const claim of lookup.persistentVolumeClaims(namespace)) {
    if (claim.metadata.labels?.[labels.migrationName] === name) return claim;
  }
  return undefined;
}

function missing(namespace: string): never {
  const message = `namespace "${namespace}" has no claim for the guest's persistent state yet; create it, or wait for it`;
  throw new LauncherPodError("LAUNCHER_POD_NOT_FOUND", message, { path: "spec" });
}
