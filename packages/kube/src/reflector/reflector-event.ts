import type { KubeObject } from "../client/kube-object.ts";

/**
 * What a `Reflector` tells its consumer. The contract:
 *
 * - `init`: a snapshot begins. Keep what you have, and go on answering from it. Another `init` before the
 *   `initDone` means that the snapshot could not be completed: it starts over, and what was applied since the
 *   last `init` does not count as part of it.
 * - `apply`: the object is like this now. Between `init` and `initDone` it is part of the snapshot. The same
 *   version may come twice, an older one never comes after a newer one.
 * - `delete`: the object is gone; this is its last state. One that ended while nobody watched has no `delete`.
 * - `initDone`: the snapshot is complete. What you have and what was not applied since `init` is gone.
 *
 * From then on `apply` and `delete` follow, in the order in which the server made the changes, until a gap makes
 * the reflector start over with `init`.
 */
export type ReflectorEvent<T extends KubeObject> =
  | { readonly type: "init" }
  | { readonly type: "apply"; readonly object: T }
  | { readonly type: "delete"; readonly object: T }
  | { readonly type: "initDone" };
