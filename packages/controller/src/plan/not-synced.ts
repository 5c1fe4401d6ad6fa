import { ControllerError } from "./controller-error.ts";

/** The error that a reconciler throws until its caches have synced. */
export function notSynced(kind: string, key: string): ControllerError {
  const message = `the caches have not synced everything around ${kind} ${key} yet`;
  return new ControllerError("CONTROLLER_NOT_SYNCED", message, { path: key });
}
