import type { DeleteOptions } from "@virtkit/kube";
import { sameJson } from "./json.ts";
import type { AnyObject, Kind } from "./kind.ts";
import type { ServerState } from "./server-state.ts";
import { conflict } from "./status-error.ts";

/** Finalizers of the server itself, which its garbage collector takes off. */
export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/**
 * Deletes an object, or marks it: with finalizers it stays until they are gone, with a grace period until
 * somebody ends it with none, which for Pods is their kubelet. Returns it as it is or last was.
 */
export function deleteObject(
  server: ServerState,
  kind: Kind,
  object: AnyObject,
  options: DeleteOptions,
): AnyObject {
  checkPreconditions(kind, object, options);
  const finalizers = finalizersFor(object, options);
  const grace = kind.gracePeriod?.(object, options.gracePeriodSeconds) ?? 0;
  const { deletionGracePeriodSeconds, deletionTimestamp } = object.metadata;
  // Once asked to go, an object can only be hurried.
  const seconds = Math.min(grace, deletionGracePeriodSeconds ?? grace);
  if (finalizers.length === 0 && seconds === 0 && !isKeptNamespace(object)) {
    return options.dryRun ? object : server.remove(kind, object);
  }
  const at = new Date(server.date().getTime() + seconds * 1000);
  const marked: AnyObject = {
    ...object,
    ...(isKeptNamespace(object) ? { status: { ...object.status, phase: "Terminating" } } : {}),
    metadata: {
      ...object.metadata,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      deletionTimestamp:
        deletionTimestamp && seconds === deletionGracePeriodSeconds
          ? deletionTimestamp
          : at.toISOString().replace(/\.\d+Z$/, "Z"),
      deletionGracePeriodSeconds: seconds,
      ...(object.metadata.generation && !deletionTimestamp
        ? { generation: object.metadata.generation + 1 }
        : {}),
    },
  };
  if (options.dryRun || sameJson(marked, object)) return object;
  return server.store(kind, marked, object);
}

/** What becomes of an object after a write: one that was only kept by what the write took off goes. */
export function removeIfDone(server: ServerState, kind: Kind, object: AnyObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (!deletionTimestamp || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  if (isKeptNamespace(object)) return false;
  server.remove(kind, object);
  return true;
}

function checkPreconditions(kind: Kind, object: AnyObject, { preconditions }: DeleteOptions): void {
  const { name = "", uid, resourceVersion } = object.metadata;
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(kind.resource.plural, name, `its uid is ${uid}, not ${preconditions.uid}`);
  }
  const version = preconditions?.resourceVersion;
  if (version !== undefined && version !== resourceVersion) {
    throw conflict(kind.resource.plural, name, `its version is ${resourceVersion}, not ${version}`);
  }
}

/** The finalizers after a deletion with that policy. */
function finalizersFor(object: AnyObject, { propagationPolicy }: DeleteOptions): readonly string[] {
  const { finalizers = [] } = object.metadata;
  if (!propagationPolicy) return finalizers;
  const others = finalizers.filter(
    (each) => each !== foregroundFinalizer && each !== orphanFinalizer,
  );
  if (propagationPolicy === "Foreground") return [...others, foregroundFinalizer];
  if (propagationPolicy === "Orphan") return [...others, orphanFinalizer];
  return others;
}

/** A namespace stays until the finalizer in its spec is gone. */
function isKeptNamespace({ kind, spec }: AnyObject): boolean {
  const finalizers = spec?.["finalizers"];
  return kind === "Namespace" && Array.isArray(finalizers) && finalizers.length > 0;
}
