import type { KubeObject } from "../client/kube-object.ts";

/**
 * What a `Reflector` reports to its consumer. The contract:
 *
 * - `init`: a snapshot begins. Keep what you have, and continue to answer from it. Another `init` before the
 *   `initDone` means that the snapshot could not be completed: it starts over, and what was applied since the last
 *   `init` is not part of it.
 * - `apply`: this is the object's state now. Between `init` and `initDone` it is part of the snapshot. The same
 *   version may come twice; an older one never comes after a newer one.
 * - `delete`: the object is gone; this is its last state. An object that was deleted while nobody watched has no
 *   `delete`.
 * - `initDone`: the snapshot is complete. Objects that you have and that were not applied since `init` are gone.
 *
 * After that, `apply` and `delete` follow in the order in which the server made the changes, until a gap makes the
 * reflector start over with `init`.
 */
export type ReflectorEvent<T extends KubeObject> =
  | { readonly type: "init" }
  | { readonly type: "apply"; readonly object: T }
  | { readonly type: "delete"; readonly object: T }
  | { readonly type: "initDone" };
