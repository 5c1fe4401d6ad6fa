import type { SchemaNode } from "@virtkit/api/schema";
import type { Domain } from "../model/domain.ts";
import { domainTree, type TreeNode } from "./domain-tree.ts";
import type { FieldSteps } from "./field-path.ts";
import type { FieldTrial } from "./field-trial.ts";
import type { Inputs } from "./inputs.ts";
import { listFields } from "./list-fields.ts";
import { movedNodes } from "./moved-nodes.ts";
import { type Reads, recordReads } from "./record-reads.ts";

/** Something that was converted, and can be converted again with other inputs. */
export interface Experiment {
  readonly tree: TreeNode;
  readonly inputs: Inputs;
  /** What is known about the shape of an input. */
  readonly schemas: Readonly<Record<string, SchemaNode>>;
  /** Whether missing fields that are read are tried as well, if their shape is known. */
  readonly tryAbsent: boolean;
  /** Throws if the inputs make no domain. */
  convert(inputs: Inputs): Domain;
}

/** The fields that a conversion reads, of all inputs, except below places that are left out. */
export function* fieldsOf(
  experiment: Experiment,
  isLeftOut?: (input: string, holder: object, path: FieldSteps) => boolean,
): Generator<FieldTrial> {
  const { inputs, schemas, tryAbsent } = experiment;
  for (const [name, value] of Object.entries(inputs)) {
    yield* listFields({
      ...{ name, value, reads: readsOf(experiment, name), schema: schemas[name], tryAbsent },
      isLeftOut: (holder, path) => isLeftOut?.(name, holder, path) ?? false,
    });
  }
}

/** What a conversion reads of one input; `undefined`, for everything, if it cannot be watched. */
function readsOf({ inputs, convert }: Experiment, name: string): Reads | undefined {
  const { watched, reads } = recordReads(inputs[name]);
  try {
    convert({ ...inputs, [name]: watched });
    return reads;
  } catch {
    return undefined;
  }
}

/** The nodes of a tree that change with other inputs; `undefined` if they make no domain. */
export function movedIn(
  { convert }: Pick<Experiment, "convert">,
  tree: TreeNode,
  inputs: Inputs,
): Set<TreeNode> | undefined {
  try {
    return movedNodes(tree, domainTree(convert(inputs)));
  } catch {
    return undefined;
  }
}
