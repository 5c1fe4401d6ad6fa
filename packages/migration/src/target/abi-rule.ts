import type { XmlNode } from "@virtkit/converter/xml";

/**
 * Who sees a part of a domain.
 *
 * - `guest`: the guest can; all of it is the source's.
 * - `host`: only the host can; all of it is the target's own.
 * - `own`: the guest can see its effect, and it reaches into the host (a file, an argument of QEMU).
 *   It is the target's own, and must be what the source has.
 * - a rule: parts of it are one, parts another.
 */
export type Sight = "guest" | "host" | "own" | AbiRule;

/** Who sees the parts of an element. A part without an entry is not accepted. */
export interface AbiRule {
  /** Attributes that only the host sees; the guest sees all others. */
  readonly hostAttributes?: readonly string[];
  /** Whether its text belongs to the host, such as a path. */
  readonly hostText?: true;
  readonly children?: Readonly<Record<string, Sight>>;
  /** What distinguishes it from others with its name; their order, if this is absent. */
  readonly key?: (node: XmlNode) => string | undefined;
  /** Whether it works only with a resource of the host behind it, so that the target must have it, too. */
  readonly needsOwn?: true;
}

/** The first child of that name. */
export function childOf(node: XmlNode, name: string): XmlNode | undefined {
  return elementsOf(node).find((child) => child.name === name);
}

/** The children that are elements. */
export function elementsOf({ children }: XmlNode): readonly XmlNode[] {
  return children.filter((child) => typeof child !== "string");
}

/** The text of an element without the white space around it. */
export function textOf({ children }: XmlNode): string {
  return children
    .filter((child) => typeof child === "string")
    .join("")
    .trim();
}

/**
 * Elements by how they are named in paths: by name and key (`disk[ua-root]`), or by their order among those
 * of that name where there is no key (`serial`, `serial[1]`).
 */
export function byLabel(
  nodes: readonly XmlNode[],
  rules: Readonly<Record<string, Sight>>,
): ReadonlyMap<string, XmlNode> {
  const counts = new Map<string, number>();
  const found = new Map<string, XmlNode>();
  for (const node of nodes) {
    const index = counts.get(node.name) ?? 0;
    counts.set(node.name, index + 1);
    const rule = Object.hasOwn(rules, node.name) ? rules[node.name] : undefined;
    const key = typeof rule === "object" ? rule.key?.(node) : undefined;
    const byOrder = index === 0 ? node.name : `${node.name}[${index}]`;
    const label = key === undefined ? byOrder : `${node.name}[${key}]`;
    // Two elements with the same key are two, not one: the second is also identified by its order.
    found.set(found.has(label) ? `${label}#${index}` : label, node);
  }
  return found;
}
