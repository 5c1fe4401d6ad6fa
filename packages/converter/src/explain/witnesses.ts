import type { TreeNode } from "./domain-tree.ts";
import type { FieldTrial } from "./field-trial.ts";

/** How many items of a list are tried on the whole VMI in any case: a single one may not show everything. */
const minWitnesses = 2;

/**
 * How many are tried for a node that none of them owns, such as the number of I/O threads. More would tell a
 * reader nothing, and cost the square of their number.
 */
const maxWitnesses = 8;

/** How often each field of the items of a list was tried on the whole VMI, and for which nodes. */
export class Witnesses {
  readonly #counts = new Map<string, Map<TreeNode | undefined, number>>();

  /**
   * Whether to try a field of one more item on the whole VMI, given the nodes that it changes and its item does
   * not own; `undefined` means unknown there, and is always tried.
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
