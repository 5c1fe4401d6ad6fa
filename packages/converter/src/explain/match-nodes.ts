import type { TreeNode } from "./domain-tree.ts";
import { identityOf, ownName } from "./moved-nodes.ts";

/** Finds the nodes of a whole domain that correspond to those of a domain with fewer devices. */
export class NodeMatcher {
  readonly #whole: TreeNode;
  readonly #childrenOf = new Map<TreeNode, ReadonlyMap<string, readonly TreeNode[]>>();

  /** The nodes of the whole domain in a named device, which says whose it is. */
  readonly named: ReadonlySet<TreeNode>;

  constructor(whole: TreeNode) {
    this.#whole = whole;
    const named = new Set<TreeNode>();
    addNamed(whole, false, named);
    this.named = named;
  }

  /**
   * By node of the other tree, the node of the whole one. Items of a list are the same if their names are;
   * ambiguous items and their content are left out.
   */
  match(tree: TreeNode): Map<TreeNode, TreeNode> {
    const matches = new Map<TreeNode, TreeNode>();
    this.#match(tree, this.#whole, matches);
    return matches;
  }

  #match(node: TreeNode, whole: TreeNode, matches: Map<TreeNode, TreeNode>): void {
    matches.set(node, whole);
    for (const attribute of node.attributes) {
      const same = whole.attributes.find(({ name }) => name === attribute.name);
      if (same) matches.set(attribute, same);
    }
    const candidates = this.#grouped(whole);
    for (const [key, children] of grouped(node)) {
      const others = candidates.get(key) ?? [];
      if (others.length !== children.length) continue;
      for (const [at, child] of children.entries()) {
        this.#match(child, others[at] as TreeNode, matches);
      }
    }
  }

  #grouped(whole: TreeNode): ReadonlyMap<string, readonly TreeNode[]> {
    const known = this.#childrenOf.get(whole) ?? grouped(whole);
    this.#childrenOf.set(whole, known);
    return known;
  }
}

/** The children of a node by what distinguishes them; outside lists, by name. */
function grouped({ children }: TreeNode): Map<string, TreeNode[]> {
  const groups = new Map<string, TreeNode[]>();
  for (const child of children) {
    const key = `${child.name} ${child.at === undefined ? "" : identityOf(child)}`;
    const group = groups.get(key);
    if (group) group.push(child);
    else groups.set(key, [child]);
  }
  return groups;
}

function addNamed(node: TreeNode, isInNamed: boolean, named: Set<TreeNode>): void {
  const isNamed = isInNamed || ownName(node) !== undefined;
  if (isNamed) for (const own of [node, ...node.attributes]) named.add(own);
  for (const child of node.children) addNamed(child, isNamed, named);
}
