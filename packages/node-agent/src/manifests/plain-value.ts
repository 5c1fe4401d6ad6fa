import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
} from "yaml";

/** Bounds on what one document may hold; aliases count as often as they are used. */
export interface ValueLimits {
  /** Most values in a document. */
  readonly maxValues: number;
  /** Maximum nesting of lists and objects. */
  readonly maxDepth: number;
}

/** Far more than any manifest has, and small enough to be read at once. */
export const defaultValueLimits: ValueLimits = { maxValues: 500_000, maxDepth: 100 };

/** Something that JSON cannot hold, at an offset in the text. */
export interface ValueProblem {
  readonly offset: number;
  readonly message: string;
}

/** A YAML document as plain JSON. */
export interface PlainValue {
  readonly value: unknown;
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
}

/**
 * The plain JSON value of a YAML document, with each alias resolved to a separate copy. Reports and leaves out what
 * plain JSON cannot express: duplicate keys, keys that are not scalars, an alias inside its own value, and
 * everything beyond the limits.
 */
export function plainValue(
  document: Document,
  limits: ValueLimits,
  report: (problem: ValueProblem) => void,
): PlainValue {
  const conversion = new Conversion(limits, report);
  return { value: conversion.convert(document.contents, 0), targets: conversion.targets };
}

class Conversion {
  readonly targets: Map<Alias, Node> = new Map();
  /** The nodes that aliases can name at this point of the walk; the library's own search is slow. */
  readonly #anchors = new Map<string, Node>();
  readonly #limits: ValueLimits;
  readonly #report: (problem: ValueProblem) => void;
  readonly #open = new Set<Node>();
  #values = 0;

  constructor(limits: ValueLimits, report: (problem: ValueProblem) => void) {
    this.#limits = limits;
    this.#report = report;
  }

  convert(node: unknown, depth: number): unknown {
    if (!this.#enter(node, depth)) return null;
    this.#remember(node);
    if (isScalar(node)) return this.#scalar(node.value, node);
    if (isAlias(node)) return this.#alias(node, depth);
    if (isSeq(node)) return node.items.map((item) => this.convert(item, depth + 1));
    return isMap(node) ? this.#object(node.items, depth) : null;
  }

  /** Counts a value; false once a limit is reached, which is reported once. */
  #enter(node: unknown, depth: number): boolean {
    const { maxValues, maxDepth } = this.#limits;
    if (this.#values > maxValues) return false;
    if (depth > maxDepth) {
      this.#fault(node, `the document is nested more than ${maxDepth} levels deep`);
      this.#values = maxValues + 1;
      return false;
    }
    this.#values++;
    if (this.#values <= maxValues) return true;
    this.#fault(node, `the document holds more than ${maxValues} values; aliases count each time`);
    return false;
  }

  #scalar(value: unknown, node: Node): unknown {
    if (typeof value === "bigint") return Number(value);
    if (typeof value === "number" && !Number.isFinite(value)) {
      this.#fault(node, `${value} is not a number in JSON; use a string or a number`);
      return null;
    }
    return value ?? null;
  }

  /** An anchor counts from its position; a copy through an alias does not move it. */
  #remember(node: unknown): void {
    if (this.#open.size > 0 || !isNode(node) || isAlias(node)) return;
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }

  #alias(alias: Alias, depth: number): unknown {
    const target = this.#target(alias);
    if (target === undefined) return null;
    if (this.#open.has(target)) {
      this.#fault(alias, `the alias *${alias.source} is inside the value it stands for`);
      return null;
    }
    this.#open.add(target);
    const value = this.convert(target, depth + 1);
    this.#open.delete(target);
    return value;
  }

  #target(alias: Alias): Node | undefined {
    const target = this.targets.get(alias) ?? this.#anchors.get(alias.source);
    if (target) this.targets.set(alias, target);
    else this.#fault(alias, `there is no anchor &${alias.source} before this alias`);
    return target;
  }

  #object(items: readonly unknown[], depth: number): Record<string, unknown> {
    const fields = new Map<string, unknown>();
    for (const pair of items) {
      if (!isPair(pair)) continue;
      const key = this.#key(pair.key);
      if (key === undefined) continue;
      if (fields.has(key)) {
        this.#fault(pair.key, `duplicate key ${shown(key)}; remove one`);
      } else {
        fields.set(key, this.convert(pair.value, depth + 1));
      }
    }
    // Defines properties, so that `__proto__` is an ordinary key.
    return Object.fromEntries(fields);
  }

  #key(node: unknown): string | undefined {
    this.#remember(node);
    const key = isAlias(node) ? this.#target(node) : node;
    if (isScalar(key) && typeof key.value !== "object") return String(key.value);
    if (isScalar(key)) return String(key.source ?? "null");
    this.#fault(node, "a key is not plain text; use a string");
    return undefined;
  }

  #fault(node: unknown, message: string): void {
    const { range } = Object(node) as { range?: readonly number[] | null };
    this.#report({ offset: range?.[0] ?? 0, message });
  }
}

function shown(key: string): string {
  return JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}...` : key);
}
