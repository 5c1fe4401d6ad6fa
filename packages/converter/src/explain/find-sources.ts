import type { SchemaNode } from "@virtkit/api/schema";
import type { Domain } from "../model/domain.ts";
import { domainTree, type TreeNode } from "./domain-tree.ts";
import { type FieldSteps, withValueAt } from "./field-path.ts";
import { movedNodes } from "./moved-nodes.ts";
import { likelyValues, otherValues, schemaAt } from "./other-values.ts";
import { type Reads, recordReads } from "./record-reads.ts";
import { wideChanges } from "./wide-changes.ts";

/** A field of an input that a node depends on. */
export interface FieldRef {
  readonly input: string;
  readonly path: FieldSteps;
  /** Whether the field is there; if it is not, setting it would change the node. */
  readonly present: boolean;
  readonly value: unknown;
  /** How many nodes depend on the field: the fewer, the more it is about each. */
  readonly reach: number;
}

/** Something that is converted, and can be converted again with other inputs. */
export interface Experiment {
  readonly tree: TreeNode;
  /** Plain values by name. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** What is known of the shape of an input. */
  readonly schemas: Readonly<Record<string, SchemaNode>>;
  /** Whether fields that are read but not there are tried as well, where their shape is known. */
  readonly tryAbsent: boolean;
  /** Throws where the inputs make no domain. */
  convert(inputs: Readonly<Record<string, unknown>>): Domain;
}

/** Deeper than any VMI: stops at an object that holds itself. */
const maxDepth = 40;

/**
 * Finds out which fields each node depends on, by trying: every field that the conversion reads is
 * taken away or given another value, and the nodes that change or vanish are noted. What is found is
 * true by construction. Takes some hundred conversions.
 */
export function findSources(experiment: Experiment): Map<TreeNode, FieldRef[]> {
  const trials = new Trials(experiment);
  for (const [name, input] of Object.entries(experiment.inputs)) {
    trials.tryFields(name, input, readsOf(experiment, name));
  }
  return trials.found;
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

class Trials {
  readonly found = new Map<TreeNode, FieldRef[]>();
  readonly #experiment: Experiment;

  constructor(experiment: Experiment) {
    this.#experiment = experiment;
  }

  tryFields(name: string, input: unknown, reads: Reads | undefined): void {
    this.#visit(name, [], input, reads);
  }

  #visit(name: string, path: FieldSteps, value: unknown, reads: Reads | undefined): void {
    if (path.length > maxDepth) return;
    if (isBranch(value)) {
      this.#visitPresent(name, path, value, reads);
      this.#visitAbsent(name, path, value, reads);
    }
    if (path.length > 0) this.#tryPresent(name, path, value);
  }

  #visitPresent(name: string, path: FieldSteps, value: object, reads: Reads | undefined): void {
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    for (const [key, child] of entries) {
      const inner = reads?.get(String(key));
      if ((reads && !inner) || child === undefined || child === null) continue;
      this.#visit(name, [...path, key], child, inner);
    }
  }

  #visitAbsent(name: string, path: FieldSteps, value: object, reads: Reads | undefined): void {
    if (!this.#experiment.tryAbsent) return;
    for (const key of reads?.keys() ?? []) {
      const child = (value as Record<string, unknown>)[key] ?? undefined;
      if (child === undefined) this.#tryAbsent(name, [...path, key]);
    }
  }

  #tryPresent(name: string, path: FieldSteps, value: unknown): void {
    const { inputs, schemas } = this.#experiment;
    const others = isBranch(value)
      ? [undefined]
      : otherValues(value, schemaAt(schemas[name], path));
    const ref = { input: name, path, present: true, value };
    let moved = this.#moved(others.map((other) => this.#with(name, path, other)));
    // Only then: what a wide change moves says nothing of a field that moves nothing by itself.
    moved ??= this.#moved(wideChanges(inputs, name, path, value));
    this.#note(ref, moved);
  }

  #tryAbsent(name: string, path: FieldSteps): void {
    const schema = schemaAt(this.#experiment.schemas[name], path);
    this.#tryValues(name, path, likelyValues(schema));
    if (schema?.kind !== "object") return;
    for (const [key, field] of schema.fields) {
      if (field.schema.kind !== "object") {
        this.#tryValues(name, [...path, key], likelyValues(field.schema));
      }
    }
  }

  #tryValues(name: string, path: FieldSteps, values: readonly unknown[]): void {
    if (values.length === 0) return;
    const moved = this.#moved(values.map((value) => this.#with(name, path, value)));
    this.#note({ input: name, path, present: false, value: undefined }, moved);
  }

  #with(name: string, path: FieldSteps, value: unknown): Readonly<Record<string, unknown>> {
    const { inputs } = this.#experiment;
    return { ...inputs, [name]: withValueAt(inputs[name], path, value) };
  }

  /** What any of the changes moves; `undefined` if none of them can be converted. */
  #moved(changes: readonly Readonly<Record<string, unknown>>[]): Set<TreeNode> | undefined {
    let all: Set<TreeNode> | undefined;
    for (const inputs of changes) {
      const moved = this.#movedBy(inputs);
      if (!moved) continue;
      all ??= new Set();
      for (const node of moved) all.add(node);
    }
    return all;
  }

  #movedBy(inputs: Readonly<Record<string, unknown>>): Set<TreeNode> | undefined {
    try {
      return movedNodes(this.#experiment.tree, domainTree(this.#experiment.convert(inputs)));
    } catch {
      return undefined;
    }
  }

  #note(ref: Omit<FieldRef, "reach">, moved: ReadonlySet<TreeNode> | undefined): void {
    if (!moved) return;
    const complete: FieldRef = { ...ref, reach: moved.size };
    for (const node of moved) {
      const refs = this.found.get(node);
      if (refs) refs.push(complete);
      else this.found.set(node, [complete]);
    }
  }
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isListOfScalars(value);
}

function isListOfScalars(value: object): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null);
}
