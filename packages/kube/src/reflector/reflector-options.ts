import type { Clock } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import type { KubeObject } from "../client/kube-object.ts";

/** What a `Reflector` watches, and how. */
export interface ReflectorOptions<T extends KubeObject> extends Observers {
  /** One namespace; all of them by default. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * How the objects that exist are read: in pages, or as the beginning of the watch, which costs the server less but
   * needs etcd 3.4.31, 3.5.13 or later. A server that cannot do it is asked for pages. By default `pages`.
   */
  readonly list?: "stream" | "pages" | undefined;
  /** Objects per page. By default 200: larger pages cost memory that the process does not give back. */
  readonly pageSize?: number | undefined;
  /** Each object goes through it on the way in; it may change it. By default `managedFields` are dropped. */
  readonly transform?: ((object: T) => T) | undefined;
  /**
   * Milliseconds without a word after which a connection counts as dead. By default two minutes: a server sends a
   * bookmark every minute.
   */
  readonly silenceLimit?: number | undefined;
  /** Milliseconds; the delay after a failure starts with `min` and doubles up to `max`. */
  readonly backoff?: { readonly min?: number; readonly max?: number } | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Ends it; nothing else does. */
  readonly signal?: AbortSignal | undefined;
}
