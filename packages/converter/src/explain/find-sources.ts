import type { TreeNode } from "./domain-tree.ts";
import { type Experiment, fieldsOf, movedIn } from "./experiment.ts";
import type { FieldSteps } from "./field-path.ts";
import { movedByField } from "./field-trial.ts";
import { itemTrials, type TriedField } from "./item-trials.ts";
import { LongLists } from "./long-lists.ts";

/** A field of an input that a node depends on. */
export interface FieldRef {
  readonly input: string;
  readonly path: FieldSteps;
  /** Whether the field is set; if not, setting it would change the node. */
  readonly present: boolean;
  readonly value: unknown;
  /** How many nodes depend on the field: the fewer, the more specific it is. */
  readonly reach: number;
}

/**
 * Finds out which fields each node depends on, by experiment: every field that the conversion reads is removed
 * or given another value, and the nodes that change or vanish are recorded. The result is true by construction.
 * Takes some hundred conversions, and as many small ones for each item of a long list.
 */
export function findSources(experiment: Experiment): Map<TreeNode, FieldRef[]> {
  const found = new Map<TreeNode, FieldRef[]>();
  for (const { field, moved } of trials(experiment)) {
    const { input, path, present, value } = field;
    const ref: FieldRef = { input, path, present, value, reach: moved.size };
    for (const node of moved) {
      const refs = found.get(node);
      if (refs) refs.push(ref);
      else found.set(node, [ref]);
    }
  }
  return found;
}

function* trials(experiment: Experiment): Generator<TriedField> {
  const { inputs, schemas, tree } = experiment;
  const lists = new LongLists(inputs, schemas);
  const isItem = (input: string, holder: object, path: FieldSteps): boolean =>
    lists.nameAt(input, holder, path) !== undefined;
  for (const field of fieldsOf(experiment, isItem)) {
    const moved = movedByField(inputs, field, (changed) => movedIn(experiment, tree, changed));
    if (moved) yield { field, moved };
  }
  if (lists.names.size > 0) yield* itemTrials(experiment, lists);
}
