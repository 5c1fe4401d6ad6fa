import { at, entry, isObject, number } from "@virtkit/api/shape";
import { apiVersionOf, type OwnerReference } from "@virtkit/kube";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { isControlledBy } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import { revisionResource } from "../plan/vm-resources.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import { type PoolPass, poolError } from "./pool-pass.ts";
import type { PoolRevision, VirtualMachinePool } from "./pool-view.ts";

/** The name of the stored copy of a pool's spec as it is now. */
export function revisionNameOf({ metadata }: VirtualMachinePool): string {
  return `${metadata.name ?? ""}-${number(metadata.generation)}`;
}

/** Stores the pool's spec if it is not stored yet. */
export function ensureRevision(pass: PoolPass): Refusal | undefined {
  const name = revisionNameOf(pass.pool);
  if (revisionOf(pass, name)) return undefined;
  const { namespace } = nameOf(pass.pool);
  const revision = {
    apiVersion: apiVersionOf(revisionResource),
    kind: revisionResource.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [ownedBy(pass)],
    },
    data: pass.pool.spec,
    revision: number(pass.pool.metadata.generation),
  };
  const refusal = pass.draft.write({
    kind: "create",
    resource: revisionResource,
    object: revision,
  });
  if (!refusal) pass.isUpToDate = false;
  return refusal;
}

/** The pool's spec as it was stored under a name. */
export function storedSpec(pass: PoolPass, name: string): VirtualMachinePool["spec"] | undefined {
  const data = revisionOf(pass, name)?.data;
  return isObject(data) ? (data as VirtualMachinePool["spec"]) : undefined;
}

/** Deletes the stored copies that no VM or VMI was made from. */
export function pruneRevisions(pass: PoolPass): PlanError | undefined {
  const label = pass.config.names.labels.poolRevision;
  const used = new Set(
    pass.vms
      .flatMap((vm) => [vm, pass.vmiOf(vm)])
      .map((object) => entry(at(object, "metadata", "labels"), label)),
  );
  const own = pass.view.revisions.filter((item) => isControlledBy(item, uidOf(pass.pool)));
  for (const revision of own.filter((item) => !used.has(nameOf(item).name))) {
    const refusal = pass.draft.write({
      kind: "delete",
      resource: revisionResource,
      object: nameOf(revision),
      uid: uidOf(revision),
    });
    if (!refusal) continue;
    const message = `ControllerRevision ${nameOf(revision).name} could not be deleted: ${refusal.message}`;
    return poolError("FailedRevisionPruning", message);
  }
  return undefined;
}

/** The owner reference that makes an object belong to the pool. */
export function ownedBy({ pool, resources }: PoolPass): OwnerReference {
  return {
    apiVersion: apiVersionOf(resources.pools),
    kind: resources.pools.kind,
    name: nameOf(pool).name,
    uid: uidOf(pool),
    controller: true,
    blockOwnerDeletion: true,
  };
}

function revisionOf(pass: PoolPass, name: string): PoolRevision | undefined {
  const { namespace } = nameOf(pass.pool);
  return pass.view.revisions.find((revision) => {
    const place = nameOf(revision);
    return place.name === name && place.namespace === namespace;
  });
}
