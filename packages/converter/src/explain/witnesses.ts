import type { TreeNode } from "./domain-tree.ts";
import type { FieldTrial } from "./field-trial.ts";

/** How many items of a list are tried on the whole VMI in any case: one alone may not show all. */
const minWitnesses = 2;

/**
 * How many are for a node that none of them owns, as the number of I/O threads. More would tell a
 * reader nothing, and take the square of their number.
 */
const maxWitnesses = 8;

/** How often each field of the items of a list was tried on the whole VMI, and for which nodes. */
export class Witnesses {
  readonly #counts = new Map<string, Map<TreeNode | undefined, number>>();

  /**
   * Whether a field of one more item is to be tried on the whole VMI, given the nodes that it moves and
   * its item does not own; `undefined` is one that is not known there, and always to be tried.
   */
  take({ input, path, present }: FieldTrial, nodes: readonly (TreeNode | undefined)[]): boolean {
    const names = path.filter((step) => typeof step === "string");
    const field = JSON.stringify([input, present, ...names]);
    const counts = this.#counts.get(field) ?? new Map<TreeNode | undefined, number>();
    this.#counts.set(field, counts);
    const isWanted =
      (counts.get(undefined) ?? 0) < minWitnesses ||
      nodes.some((node) => !node || (counts.get(node) ?? 0) < maxWitnesses);
    if (!isWanted) return false;
    for (const node of new Set([undefined, ...nodes])) {
      counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    return true;
  }
}
