import type { Clock } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import type { KubeClient } from "../client/kube-client.ts";
import type { ObjectName } from "../client/resource.ts";
import type { RateLimiterOptions } from "../queue/rate-limiter.ts";
import type { Priority } from "../queue/work-queue.ts";
import type { Reconciler } from "./reconciler.ts";
import type { Watch } from "./watch.ts";

/** Options of a controller. Times are in milliseconds. */
export interface ControllerOptions extends Observers {
  /** In the log, and as a label of the metrics. */
  readonly name: string;
  readonly client: KubeClient;
  /** Nothing is reconciled before all of them have synced. */
  readonly watches: readonly Watch[];
  readonly reconcile: Reconciler;
  /** Objects that are reconciled at the same time. By default 1. */
  readonly concurrency?: number | undefined;
  /** After this the signal of a reconcile is aborted. By default two minutes. */
  readonly deadline?: number | undefined;
  /** A watch that has not heard from its server for this long is a problem. By default five minutes. */
  readonly mostBlind?: number | undefined;
  /** Of retries. */
  readonly backoff?: Omit<RateLimiterOptions, "clock"> | undefined;
  /** Whether the controller handles an object; false, for example, for those of another shard. Default: all. */
  readonly filter?: ((object: ObjectName) => boolean) | undefined;
  /**
   * How soon an object is taken, whatever the reason: by a watch, or again later. By default a watch decides, and objects
   * that are taken again have the priority `normal`.
   */
  readonly priority?: ((object: ObjectName) => Priority) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
}

/** A controller that `createController` returned. */
export interface Controller {
  readonly name: string;
  /**
   * Watches and reconciles until the signal, or until `stop`. The signal stops it at once: the signals of
   * reconciles are aborted with it. Resolves when all work has ended. It can be run again afterwards, but not
   * twice at a time.
   */
  run(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Starts no more reconciles, gives the running ones this long to end by themselves, and then aborts them. */
  stop(options?: { readonly grace?: number | undefined }): Promise<void>;
  /** Has an object reconciled for a reason that no watch sees. Does nothing unless it runs. */
  enqueue(
    object: ObjectName,
    options?: { readonly after?: number; readonly priority?: Priority },
  ): void;
  /** Its watches, and how many milliseconds ago each last heard from its server. */
  watches(): readonly { readonly name: string; readonly blindFor: number }[];
  /** What a health check must know: watches that are blind, reconciles that do not end. Empty: all is well. */
  problems(): readonly string[];
}
