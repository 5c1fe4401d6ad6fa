import type { KubeObject } from "@virtkit/kube";
import { expired } from "./status-error.ts";

/** One change of one object. */
export interface Change {
  readonly revision: number;
  /** The resource, by its key. */
  readonly kind: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** As it is afterwards; for `DELETED` as it was last. */
  readonly object: KubeObject;
  /** As it was before; none for `ADDED`. */
  readonly previous?: KubeObject;
}

/** What has changed, in order, for watches that start from an older version or follow what comes. */
export class ChangeLog {
  readonly #changes: Change[] = [];
  readonly #followers = new Set<(change: Change) => void>();
  /** Changes up to this one are forgotten. */
  #compacted = 0;

  add(change: Change): void {
    this.#changes.push(change);
    for (const tell of [...this.#followers]) tell(change);
  }

  /** All changes after a revision. Throws 410 if some of them have been forgotten. */
  since(revision: number): readonly Change[] {
    this.assertKept(revision);
    return this.#changes.slice(this.#firstAfter(revision));
  }

  /** Throws 410 if changes after this revision are forgotten. */
  assertKept(revision: number): void {
    if (revision >= this.#compacted) return;
    throw expired(`too old resource version: ${revision} (${this.#compacted})`);
  }

  /** Forgets what has changed up to a revision, as etcd's compaction does. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
    this.#changes.splice(0, this.#firstAfter(revision));
  }

  /** Where the changes after a revision begin: they are in order. */
  #firstAfter(revision: number): number {
    let [low, high] = [0, this.#changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Reports each further change as it happens. Returns a function that stops it. */
  follow(tell: (change: Change) => void): () => void {
    this.#followers.add(tell);
    return () => this.#followers.delete(tell);
  }
}
