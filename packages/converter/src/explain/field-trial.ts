import type { FieldSteps } from "./field-path.ts";
import { withValueAt } from "./field-path.ts";
import type { Inputs } from "./inputs.ts";
import { wideChanges } from "./wide-changes.ts";

/** A field of an input, and the values to try instead. */
export interface FieldTrial {
  readonly input: string;
  readonly path: FieldSteps;
  readonly present: boolean;
  readonly value: unknown;
  /** `undefined` removes it. */
  readonly others: readonly unknown[];
}

/**
 * The nodes that change with a field for any of its other values; `undefined` if none of them can be converted.
 */
export function movedByField<T>(
  inputs: Inputs,
  { input, path, present, value, others }: FieldTrial,
  movedBy: (inputs: Inputs) => ReadonlySet<T> | undefined,
): Set<T> | undefined {
  const alone = others.map((other) => ({
    ...inputs,
    [input]: withValueAt(inputs[input], path, other),
  }));
  const moved = union(alone, movedBy);
  if (moved || !present) return moved;
  // Only then: what a wide change affects says nothing about a field that affects nothing alone.
  return union(wideChanges(inputs, input, path, value), movedBy);
}

function union<T>(
  changes: readonly Inputs[],
  movedBy: (inputs: Inputs) => ReadonlySet<T> | undefined,
): Set<T> | undefined {
  let all: Set<T> | undefined;
  for (const inputs of changes) {
    const moved = movedBy(inputs);
    if (!moved) continue;
    all ??= new Set();
    for (const node of moved) all.add(node);
  }
  return all;
}
