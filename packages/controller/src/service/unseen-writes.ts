import { type Clock, realClock } from "@virtkit/api/clock";
import type { KubeObject, ObjectName, Resource } from "@virtkit/kube";
import type { Cache } from "@virtkit/kube/cache";
import type { PlanTarget } from "../plan/carry-out.ts";
import { nameOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { PlannedWrite } from "../plan/plan.ts";

/** Options of {@link UnseenWrites}. */
export interface UnseenWritesOptions {
  /** The cache that will show the write, if there is one. */
  cacheOf(resource: Resource): Cache<KubeObject, string> | undefined;
  readonly clock?: Clock | undefined;
  /**
   * Milliseconds after which it is no longer waited for. By default 30,000; that is safe because
   * all writes are conditional.
   */
  readonly expiry?: number | undefined;
}

/** An answered write, and what its cache must show before the next decision. */
interface Unseen {
  readonly cache: Cache<KubeObject, string>;
  readonly name: ObjectName;
  readonly kind: PlannedWrite["kind"];
  readonly uid: string | undefined;
  readonly version: bigint | undefined;
  /** The write was the last that the object waited for: it is gone. */
  readonly isGone: boolean;
  readonly until: number;
}

/**
 * Writes of a controller that its caches do not show yet. A decision from such a cache would repeat
 * them. Conditional writes make that harmless, but each repetition would be a failed request.
 */
export class UnseenWrites {
  readonly #options: UnseenWritesOptions;
  readonly #clock: Clock;
  readonly #expiry: number;
  readonly #unseen = new Map<string, Unseen[]>();

  constructor(options: UnseenWritesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#expiry = options.expiry ?? 30_000;
  }

  /** Records under a key what goes through a target. */
  target(key: string, target: PlanTarget): PlanTarget {
    return {
      write: async (write, options) => {
        const answer = await target.write(write, options);
        this.#note(key, write, answer);
        return answer;
      },
    };
  }

  /**
   * Milliseconds for which a key should still be left alone, unless a cache shows more; 0 if
   * everything has been seen.
   */
  behindFor(key: string): number {
    const now = this.#clock.now();
    const left = (this.#unseen.get(key) ?? []).filter(
      (write) => write.until > now && !isSeen(write),
    );
    if (left.length === 0) this.#unseen.delete(key);
    else this.#unseen.set(key, left);
    return left.reduce((longest, { until }) => Math.max(longest, until - now), 0);
  }

  #note(key: string, write: PlannedWrite, answer: KubeObject | undefined): void {
    const cache = this.#options.cacheOf(write.resource);
    if (!cache || write.kind === "call" || (write.kind === "create" && write.subresource)) return;
    const unseen: Unseen = {
      cache,
      name: write.kind === "create" ? nameOf(answer ?? write.object) : write.object,
      kind: write.kind,
      uid: write.kind === "delete" ? write.uid : answer?.metadata.uid,
      version: versionOf(answer),
      isGone: isGoneAfter(answer),
      until: this.#clock.now() + this.#expiry,
    };
    if (!isSeen(unseen)) this.#unseen.set(key, [...(this.#unseen.get(key) ?? []), unseen]);
  }
}

function isSeen({ cache, name, kind, uid, version, isGone }: Unseen): boolean {
  const found = cache.get(name);
  if (found.state === "unknown") return false;
  // A patched or deleted object was there before, so it is gone now; a created one is still to
  // come.
  if (found.state === "absent") return kind !== "create";
  const { object } = found;
  if (object.metadata.uid !== uid) return kind !== "create";
  if (kind === "delete") return isDeleting(object);
  if (isGone) return false;
  const seen = versionOf(object);
  return version === undefined || seen === undefined || seen >= version;
}

/**
 * Whether a server has removed the object that it answers with, as it does when the last finalizer goes: such an answer
 * has no newer version than the object had before.
 */
function isGoneAfter(answer: KubeObject | undefined): boolean {
  if (!answer || !isDeleting(answer) || answer.metadata.finalizers?.length) return false;
  // A Pod that still has time to end stays.
  return !answer.metadata.deletionGracePeriodSeconds;
}

/** Versions of a server can be compared if they are numbers, as they are in Kubernetes. */
function versionOf(object: KubeObject | undefined): bigint | undefined {
  const version = object?.metadata.resourceVersion;
  return version !== undefined && /^\d{1,30}$/.test(version) ? BigInt(version) : undefined;
}
