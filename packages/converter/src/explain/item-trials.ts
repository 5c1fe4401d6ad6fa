import { domainTree, type TreeNode } from "./domain-tree.ts";
import { type Experiment, fieldsOf, movedIn } from "./experiment.ts";
import { type FieldTrial, movedByField } from "./field-trial.ts";
import type { LongLists, NarrowInputs } from "./long-lists.ts";
import { NodeMatcher } from "./match-nodes.ts";
import { Witnesses } from "./witnesses.ts";

/** A field, and the nodes that change with it. */
export interface TriedField {
  readonly field: FieldTrial;
  readonly moved: ReadonlySet<TreeNode>;
}

/**
 * Tries the fields of the items of long lists. Each is tried in a VMI without the other items, so that the time
 * does not grow with the square of their number. The result for the item's own device holds for the whole VMI.
 * Anything else is verified there, for some items of each list.
 */
export function* itemTrials(whole: Experiment, lists: LongLists): Generator<TriedField> {
  const matcher = new NodeMatcher(whole.tree);
  const trials = Array.from(lists.names, (name) => new ItemTrials(whole, lists, name, matcher));
  const owners = ownersOf(trials, matcher.named);
  const witnesses = new Witnesses();
  // The last ones first: they shift the fewest others, and say most about what they change.
  for (const item of trials.reverse()) yield* item.run(owners, witnesses);
}

class ItemTrials {
  readonly #whole: Experiment;
  readonly #lists: LongLists;
  readonly #narrow: NarrowInputs;
  /** Undefined if there is no domain without the other items. */
  readonly #tree: TreeNode | undefined;
  /** By node of the narrow tree, the node of the whole one. */
  readonly matches: ReadonlyMap<TreeNode, TreeNode>;

  constructor(whole: Experiment, lists: LongLists, name: string, matcher: NodeMatcher) {
    this.#whole = whole;
    this.#lists = lists;
    this.#narrow = lists.only(name, whole.inputs);
    try {
      this.#tree = domainTree(whole.convert(this.#narrow.inputs));
    } catch {
      this.#tree = undefined;
    }
    this.matches = this.#tree ? matcher.match(this.#tree) : new Map();
  }

  *run(owners: Owners, witnesses: Witnesses): Generator<TriedField> {
    const { inputs, wholePath } = this.#narrow;
    for (const trial of fieldsOf({ ...this.#whole, inputs })) {
      const { input, path } = trial;
      if (!this.#lists.isInItem(input, inputs[input], path)) continue;
      const field = { ...trial, path: wholePath(input, path) };
      const moved = this.#tree
        ? this.#moved(trial, this.#tree, field, owners, witnesses)
        : this.#movedInWhole(field);
      if (moved) yield { field, moved };
    }
  }

  #moved(
    trial: FieldTrial,
    tree: TreeNode,
    field: FieldTrial,
    owners: Owners,
    witnesses: Witnesses,
  ): Set<TreeNode> {
    const seen = movedByField(this.#narrow.inputs, trial, (changed) =>
      movedIn(this.#whole, tree, changed),
    );
    const moved = new Set<TreeNode>();
    const others: (TreeNode | undefined)[] = [];
    for (const node of seen ?? []) {
      const match = this.matches.get(node);
      if (match && owners.get(match) === this) moved.add(match);
      else others.push(match);
    }
    if (!witnesses.take(field, others)) return moved;
    for (const node of this.#movedInWhole(field) ?? []) moved.add(node);
    return moved;
  }

  #movedInWhole(field: FieldTrial): Set<TreeNode> | undefined {
    const { inputs, tree } = this.#whole;
    return movedByField(inputs, field, (changed) => movedIn(this.#whole, tree, changed));
  }
}

/** By node of the whole tree, the item that owns it; `undefined` if that is unknown. */
type Owners = ReadonlyMap<TreeNode, ItemTrials | undefined>;

function ownersOf(trials: readonly ItemTrials[], named: ReadonlySet<TreeNode>): Owners {
  const owners = new Map<TreeNode, ItemTrials | undefined>();
  for (const item of trials) {
    for (const node of item.matches.values()) {
      owners.set(node, named.has(node) && !owners.has(node) ? item : undefined);
    }
  }
  return owners;
}
