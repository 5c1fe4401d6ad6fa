import type { TreeNode } from "./domain-tree.ts";

/**
 * The nodes of a tree that are missing from, or have another value in, the other one. What only the other one
 * has does not count. Items of a list are matched by position if both lists have the same length, otherwise by
 * name, so that removing one item does not affect its neighbours.
 */
export function movedNodes(tree: TreeNode, other: TreeNode): Set<TreeNode> {
  const moved = new Set<TreeNode>();
  compare(tree, other, moved);
  return moved;
}

function compare(node: TreeNode, other: TreeNode, moved: Set<TreeNode>): void {
  if (node.value !== other.value) moved.add(node);
  for (const attribute of node.attributes) {
    const match = other.attributes.find(({ name }) => name === attribute.name);
    if (match?.value !== attribute.value) moved.add(attribute);
  }
  if (sameNames(node.children, other.children)) {
    for (const [at, child] of node.children.entries()) {
      compare(child, other.children[at] as TreeNode, moved);
    }
  } else {
    compareByName(node.children, other.children, moved);
  }
}

function sameNames(nodes: readonly TreeNode[], others: readonly TreeNode[]): boolean {
  return nodes.length === others.length && nodes.every(({ name }, at) => name === others[at]?.name);
}

function compareByName(
  nodes: readonly TreeNode[],
  others: readonly TreeNode[],
  moved: Set<TreeNode>,
): void {
  for (const name of new Set(nodes.map((node) => node.name))) {
    const one = nodes.filter((node) => node.name === name);
    const two = others.filter((node) => node.name === name);
    const identity = one.length === two.length ? place : identityOf;
    const byIdentity = identified(two, identity);
    for (const [id, child] of identified(one, identity)) {
      const match = byIdentity.get(id);
      if (match) compare(child, match, moved);
      else addAll(child, moved);
    }
  }
}

function place(): string {
  return "";
}

/** Items with the same name are matched in order. */
function identified(
  nodes: readonly TreeNode[],
  identity: (node: TreeNode) => string,
): Map<string, TreeNode> {
  const counts = new Map<string, number>();
  return new Map(
    nodes.map((node) => {
      const id = identity(node);
      const count = counts.get(id) ?? 0;
      counts.set(id, count + 1);
      return [`${id}#${count}`, node];
    }),
  );
}

const namingAttributes = ["id", "vcpu", "iothread", "cellid", "index", "type", "name", "value"];

/** What names an item of a list: its own name, otherwise the identifying attributes. */
export function identityOf(node: TreeNode): string {
  const name = ownName(node);
  if (name !== undefined) return name;
  return node.attributes
    .filter((attribute) => namingAttributes.includes(attribute.name))
    .map((attribute) => `${attribute.name}=${attribute.value}`)
    .join();
}

/** The alias of a device, or the name of its target. */
export function ownName(node: TreeNode): string | undefined {
  for (const child of node.children) {
    if (child.name !== "alias" && child.name !== "target") continue;
    const name = child.attributes.find((attribute) => attribute.name === "name");
    if (name) return `${name.value}`;
  }
  return undefined;
}

function addAll(node: TreeNode, moved: Set<TreeNode>): void {
  moved.add(node);
  for (const attribute of node.attributes) moved.add(attribute);
  for (const child of node.children) addAll(child, moved);
}
