import type { Log } from "@virtkit/api/observe";
import type { ObjectName } from "../client/resource.ts";

/** What a {@link Reconciler} receives besides the name. */
export interface ReconcileContext {
  /** `namespace/name`, as in the queue and the log. */
  readonly key: string;
  /** Tells the lines of one reconcile apart from those of the next. */
  readonly reconcileId: string;
  /** 1, and one more for each failure since the last success. */
  readonly attempt: number;
  /** Aborted when the time is over or the controller must stop. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /** Adds the controller, the key and the reconcile ID to every line. */
  readonly log: Log;
}

/** What a reconciler may return. */
export interface ReconcileResult {
  /** Milliseconds after which the object is looked at again, although nothing has changed. */
  readonly requeueAfter?: number | undefined;
}

/**
 * Brings the world into the state that an object asks for. It learns only which object to look at: it must not
 * depend on what has changed, or how often. It is never called twice at the same time for one object.
 *
 * - If it returns, it is done. With `requeueAfter` it is called again after that time.
 * - If it throws, it is called again after a delay that doubles each time, and not before a server's Retry-After.
 * - If it throws a `terminalError`, it is not called again until something changes.
 * - If it takes longer than its deadline, its signal is aborted. The controller still waits for it, since two calls
 *   at once would be worse.
 */
export type Reconciler = (
  object: ObjectName,
  context: ReconcileContext,
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler that has nothing to say returns nothing
) => Promise<ReconcileResult | void>;
