import { ControllerError } from "./controller-error.ts";

/** What a reconciler throws as long as its caches have not seen everything. */
export function notSynced(kind: string, key: string): ControllerError {
  const message = `not everything around ${kind} ${key} has been seen yet`;
  return new ControllerError("CONTROLLER_NOT_SYNCED", message, { path: key });
}
