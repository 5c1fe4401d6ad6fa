import type { KubeObject } from "@virtkit/kube";
import type { Change } from "./change-log.ts";
import {
  deleteObject,
  foregroundFinalizer,
  orphanFinalizer,
  removeIfDone,
} from "./delete-object.ts";
import { type AnyObject, type Kind, kindKey } from "./kind.ts";
import { objectKey } from "./object-table.ts";
import type { ServerState } from "./server-state.ts";

/**
 * Does the work of Kubernetes' garbage collector and namespace controller, some time after each change: deletes
 * objects that have lost all their owners, completes deletions with foreground and orphan policy, and empties
 * namespaces in deletion. Returns a function that stops it.
 */
export function collectGarbage(server: ServerState, delayMilliseconds = 0): () => void {
  let timer: unknown;
  const stop = server.log.follow((change) => {
    if (!matters(change)) return;
    timer ??= server.clock.setTimeout(() => {
      timer = undefined;
      collectOnce(server);
    }, delayMilliseconds);
  });
  return () => {
    stop();
    if (timer !== undefined) server.clock.clearTimeout(timer);
  };
}

/**
 * Whether something may have lost its owner or must be deleted: heartbeats and most other changes make
 * nothing garbage.
 */
function matters({ type, object: { metadata } }: Change): boolean {
  return (
    type === "DELETED" ||
    metadata.deletionTimestamp !== undefined ||
    metadata.ownerReferences !== undefined
  );
}

/** One object and its kind. */
interface Stored {
  readonly kind: Kind;
  readonly object: AnyObject;
}

/** One look at everything. What it changes makes it look again. */
function collectOnce(server: ServerState): void {
  const all = server.kinds.flatMap((kind) =>
    server
      .table(kind)
      .list()
      .map((object): Stored => ({ kind, object })),
  );
  const byUid = new Map(all.map((stored) => [stored.object.metadata.uid ?? "", stored]));
  const dependents = dependentsByOwner(all);
  for (const stored of all) {
    if (hasLostOwners(stored.object, byUid)) deleteObject(server, stored.kind, stored.object, {});
  }
  for (const { kind, object } of all) {
    const { finalizers = [], uid = "", deletionTimestamp } = object.metadata;
    if (!deletionTimestamp || !isCurrent(server, kind, object)) continue;
    const own = (dependents.get(uid) ?? []).flatMap((each) => asItIs(server, each) ?? []);
    if (finalizers.includes(foregroundFinalizer)) endForeground(server, { kind, object }, own);
    else if (finalizers.includes(orphanFinalizer)) orphan(server, { kind, object }, own);
    else if (object.kind === "Namespace") emptyNamespace(server, { kind, object }, all);
  }
}

function dependentsByOwner(all: readonly Stored[]): Map<string, Stored[]> {
  const found = new Map<string, Stored[]>();
  for (const stored of all) {
    for (const { uid } of stored.object.metadata.ownerReferences ?? []) {
      const own = found.get(uid) ?? [];
      own.push(stored);
      found.set(uid, own);
    }
  }
  return found;
}

/** Whether an object had owners and none is left. An owner waiting for its dependents counts as gone. */
function hasLostOwners(object: AnyObject, byUid: ReadonlyMap<string, Stored>): boolean {
  const { ownerReferences = [], deletionTimestamp } = object.metadata;
  if (ownerReferences.length === 0 || deletionTimestamp) return false;
  return ownerReferences.every(({ uid }) => {
    const owner = byUid.get(uid)?.object.metadata;
    return (
      !owner ||
      (owner.deletionTimestamp !== undefined && owner.finalizers?.includes(foregroundFinalizer))
    );
  });
}

/** An owner deleted in the foreground goes when those that block it are gone. */
function endForeground(server: ServerState, owner: Stored, own: readonly Stored[]): void {
  const uid = owner.object.metadata.uid;
  const blocking = own.filter(({ object }) =>
    object.metadata.ownerReferences?.some((each) => each.uid === uid && each.blockOwnerDeletion),
  );
  if (blocking.length === 0) dropFinalizer(server, owner, foregroundFinalizer);
}

/** The dependents of an owner that is deleted with the policy Orphan lose their reference to it. */
function orphan(server: ServerState, owner: Stored, own: readonly Stored[]): void {
  const uid = owner.object.metadata.uid;
  for (const { kind, object } of own) {
    const ownerReferences =
      object.metadata.ownerReferences?.filter((each) => each.uid !== uid) ?? [];
    server.store(kind, { ...object, metadata: { ...object.metadata, ownerReferences } }, object);
  }
  dropFinalizer(server, owner, orphanFinalizer);
}

function dropFinalizer(server: ServerState, { kind, object }: Stored, name: string): void {
  const finalizers = object.metadata.finalizers?.filter((each) => each !== name) ?? [];
  const { finalizers: _, ...rest } = object.metadata;
  const metadata = { ...rest, ...(finalizers.length > 0 ? { finalizers } : {}) };
  const stored = server.store(kind, { ...object, metadata }, object);
  removeIfDone(server, kind, stored);
}

/** Deletes what a namespace holds, and the namespace once it is empty. */
function emptyNamespace(server: ServerState, namespace: Stored, all: readonly Stored[]): void {
  const { name } = namespace.object.metadata;
  const inside = all.filter(
    ({ kind, object }) => object.metadata.namespace === name && isCurrent(server, kind, object),
  );
  for (const { kind, object } of inside) {
    if (!object.metadata.deletionTimestamp) deleteObject(server, kind, object, {});
  }
  if (inside.length > 0) return;
  const object: AnyObject = {
    ...namespace.object,
    spec: { ...namespace.object.spec, finalizers: [] },
  };
  const stored = server.store(namespace.kind, object, namespace.object);
  removeIfDone(server, namespace.kind, stored);
}

/** Whether an object is still stored as it was seen. */
function isCurrent(server: ServerState, kind: Kind, object: KubeObject): boolean {
  const served = server.kinds.some(({ resource }) => kindKey(resource) === kindKey(kind.resource));
  return served && server.table(kind).get(objectKey(object.metadata)) === object;
}

/** The present state of an object, if it still exists. */
function asItIs(server: ServerState, { kind, object }: Stored): Stored | undefined {
  const now = server.table(kind).get(objectKey(object.metadata));
  return now && now.metadata.uid === object.metadata.uid ? { kind, object: now } : undefined;
}
