import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { configurators } from "../configurators.ts";
import type { ConverterContext } from "../context.ts";
import { applyHook, type DomainHook } from "../hooks.ts";
import { malformedVmi } from "../malformed-vmi.ts";
import type { Domain } from "../model/domain.ts";
import { startDraft } from "../start-draft.ts";
import { domainTree, type TreeNode } from "./domain-tree.ts";

/** A step of a conversion: a configurator, or a hook after them. */
export interface Step {
  readonly kind: "rule" | "hook";
  readonly name: string;
  readonly summary: string;
}

/** A conversion, with the step that wrote, or last changed, each node. */
export interface TracedConversion {
  readonly domain: Domain;
  readonly tree: TreeNode;
  readonly stepOf: ReadonlyMap<TreeNode, Step>;
}

const frame: Step = { kind: "rule", name: "frame", summary: "What every domain has." };

/**
 * Converts step by step, and checks the domain after each. Fails as `convert` does.
 */
export function traceSteps(
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  hooks: readonly DomainHook[],
): TracedConversion {
  const writers = new Writers();
  try {
    const draft = startDraft(vmi, context);
    let { domain } = draft;
    let tree = writers.look(domain, frame);
    for (const configurator of configurators) {
      configurator.configure(draft);
      const { name, summary } = configurator;
      tree = writers.look(domain, { kind: "rule", name, summary });
    }
    for (const hook of hooks) {
      domain = applyHook(hook, domain, vmi);
      const { name, summary = "An edit of the finished domain." } = hook;
      tree = writers.look(domain, { kind: "hook", name, summary });
    }
    return { domain, tree, stepOf: writers.current };
  } catch (error) {
    throw malformedVmi(error, vmi);
  }
}

interface Written {
  readonly value: string | undefined;
  readonly step: Step;
}

/** Who wrote what, as of the last check. */
class Writers {
  current: Map<TreeNode, Step> = new Map();
  /** By object of the model: reordering a list changes nothing in its items. */
  readonly #byOwner = new Map<object, Map<string | undefined, Written>>();
  /** By path: replacing an object with an equal one is not a change either. */
  #byPlace = new Map<string, Written>();

  look(domain: Domain, step: Step): TreeNode {
    const tree = domainTree(domain);
    this.current = new Map();
    const byPlace = new Map<string, Written>();
    this.#visit(tree, "", step, byPlace);
    this.#byPlace = byPlace;
    return tree;
  }

  #visit(node: TreeNode, place: string, step: Step, byPlace: Map<string, Written>): void {
    const owned = this.#byOwner.get(node.owner) ?? new Map<string | undefined, Written>();
    this.#byOwner.set(node.owner, owned);
    const before = owned.get(node.key) ?? this.#byPlace.get(place);
    const written = before && before.value === node.value ? before : { value: node.value, step };
    owned.set(node.key, written);
    byPlace.set(place, written);
    this.current.set(node, written.step);
    for (const child of node.attributes)
      this.#visit(child, `${place}@${child.name}`, step, byPlace);
    for (const [at, child] of node.children.entries()) {
      this.#visit(child, `${place}/${at}${child.name}`, step, byPlace);
    }
  }
}
