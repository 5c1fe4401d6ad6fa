import type { Domain } from "../model/domain.ts";
import type { Step } from "./trace-steps.ts";

/** One reason why a node has its value. */
export interface Source {
  /**
   * `field`: a field of the VMI. `default`: an unset field of the VMI. `cluster`: a setting of the cluster.
   * `node`: a fact about the node, the Pod or its devices. `environment`: a field of the environment. `rule`:
   * always so. `hook`: an edit by the caller.
   */
  readonly kind: "field" | "default" | "cluster" | "node" | "environment" | "rule" | "hook";
  /**
   * The field: of the VMI (`spec.domain.cpu.cores`), of the context or of the environment (after
   * `context.` or `environment.`). The name, for a rule or hook.
   */
  readonly path: string;
  /** The field's value, if it has one. */
  readonly value?: unknown;
  /** The same in a sentence. */
  readonly because: string;
}

/** An element or attribute of the XML, and why it is there. */
export interface ExplainedNode {
  /** `devices.disk[0].driver.@cache`: names as in XML, items of a list counted from 0. */
  readonly path: string;
  readonly kind: "element" | "attribute";
  readonly name: string;
  /** The value of an attribute, or the text of an element, if any. */
  readonly value: string | undefined;
  /** At least one; the most specific first. */
  readonly sources: readonly Source[];
  /** The rule or hook that wrote it, or last changed it. */
  readonly step: Step;
}

/** A domain, and why each part of it has its value. */
export interface Explanation {
  readonly domain: Domain;
  /** Every element and attribute, in document order. */
  readonly nodes: readonly ExplainedNode[];
}

/**
 * The nodes at a path and below it. An index may be omitted, which means all items; the `@` of an attribute and the
 * name of the root may be omitted as well: `devices.disk.driver.cache`.
 */
export function nodesAt(nodes: readonly ExplainedNode[], path: string): ExplainedNode[] {
  const wanted = stepsOf(path.replace(/^domain(\.|$)/, ""));
  return nodes.filter((node) => leadsTo(wanted, stepsOf(node.path)));
}

/** The nodes that come from a field or from a field below it: `spec.domain.cpu`. */
export function nodesFrom(nodes: readonly ExplainedNode[], field: string): ExplainedNode[] {
  const wanted = stepsOf(field);
  return nodes.filter(({ sources }) => sources.some(({ path }) => leadsTo(wanted, stepsOf(path))));
}

/** Names and indices: `a.b[0].@c` is a, b, 0, c. */
function stepsOf(path: string): string[] {
  const steps = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|@?([^.[\]@]+)/g);
  return Array.from(steps, ([, key, index, name]) => key ?? (index ? `#${index}` : (name ?? "")));
}

/** Whether the first path is the start of the second, which may have indices that the first omits. */
function leadsTo(wanted: readonly string[], path: readonly string[]): boolean {
  let at = 0;
  for (const step of wanted) {
    while (path[at]?.startsWith("#") && !step.startsWith("#")) at++;
    if (path[at] !== step) return false;
    at++;
  }
  return true;
}
