import type { Names } from "@virtkit/api/names";
import type {
  ObjectMeta,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from "@virtkit/api/schema";
import type { ClusterLookup, PersistentVolumeClaim } from "./cluster-lookup.ts";
import { needsStateClaim } from "./guest-traits.ts";
import { LauncherPodError } from "./launcher-pod-error.ts";
import { vmiIdentity } from "./vmi-identity.ts";
import { stateClaimLabel } from "./well-known.ts";

/**
 * Name of the claim with a VMI's persistent state; empty if it needs none. Throws while there is none.
 */
export function stateClaimOf(vmi: VirtualMachineInstance, lookup: ClusterLookup): string {
  if (!needsStateClaim(vmi)) return "";
  const { name, namespace } = vmiIdentity(vmi);
  const claim = findStateClaim(lookup.persistentVolumeClaims(namespace), name);
  return claim?.metadata.name ?? missing(namespace);
}

/**
 * The claim with the state of the VMI of a name: by its label, or by the name that claims had before there was one.
 * If there are several, it is always the oldest, which the guest has used from the beginning.
 */
export function findStateClaim<T extends { readonly metadata?: ObjectMeta | undefined }>(
  claims: Iterable<T>,
  name: string,
): T | undefined {
  const usable = [...claims].filter(({ metadata }) => !metadata?.deletionTimestamp);
  const [oldest] = usable
    .filter(({ metadata }) => metadata?.labels?.[stateClaimLabel] === name)
    .toSorted((a, b) => (age(a.metadata) < age(b.metadata) ? -1 : 1));
  return oldest ?? usable.find(({ metadata }) => metadata?.name === `${stateClaimLabel}-${name}`);
}

/** Times have whole seconds, so the name decides between claims of the same second. */
function age({ creationTimestamp = "", name = "" }: ObjectMeta = {}): string {
  return `${creationTimestamp} ${name}`;
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
