import { escapeAttribute, escapeText } from "../xml/escape-xml.ts";
import { domainTree, type TreeNode } from "./domain-tree.ts";
import type { ExplainedNode, Explanation } from "./explanation.ts";

/** A piece of a line of XML. */
export interface XmlToken {
  readonly text: string;
  /** The element or attribute that the piece writes; undefined for indents and closing tags. */
  readonly node?: ExplainedNode;
}

/** A line of XML. */
export type XmlLine = readonly XmlToken[];

/**
 * The lines that `toXml` writes, split into tokens that link to their explanation: an element's name and text, and
 * each of its attributes. Joined, they are the same document.
 */
export function xmlLines({ domain, nodes }: Explanation): XmlLine[] {
  const writer = new LineWriter(nodes);
  writer.element(domainTree(domain), 0);
  return writer.lines;
}

class LineWriter {
  readonly lines: XmlToken[][] = [];
  #nodes: Iterator<ExplainedNode>;
  #line: XmlToken[] = [];

  constructor(nodes: readonly ExplainedNode[]) {
    this.#nodes = nodes[Symbol.iterator]();
  }

  element(tree: TreeNode, depth: number): void {
    this.#startLine(depth);
    const node = this.#open(tree);
    if (tree.mixed || tree.value !== undefined) {
      this.#inline(tree, node);
    } else if (tree.children.length === 0) {
      this.#add("/>", node);
    } else {
      this.#add(">", node);
      for (const child of tree.children) this.element(child, depth + 1);
      this.#startLine(depth);
      this.#add(`</${tree.name}>`);
    }
  }

  /** The opening tag without its end. */
  #open(tree: TreeNode): ExplainedNode {
    const node = this.#next();
    this.#add(`<${tree.name}`, node);
    for (const { name, value } of tree.attributes) {
      const attribute = this.#next();
      this.#add(" ");
      this.#add(`${name}="${escapeAttribute(value ?? "")}"`, attribute);
    }
    return node;
  }

  /** The rest of an element that stays on its line, because white space would be content. */
  #inline(tree: TreeNode, node: ExplainedNode): void {
    this.#add(">", node);
    for (const part of tree.mixed ?? [tree.value ?? ""]) {
      if (typeof part === "string") this.#text(escapeText(part), node);
      else this.#inline(part, this.#open(part));
    }
    this.#add(`</${tree.name}>`, node);
  }

  #text(text: string, node: ExplainedNode): void {
    for (const [at, line] of text.split("\n").entries()) {
      if (at > 0) this.#startLine(0);
      if (line !== "") this.#add(line, node);
    }
  }

  #startLine(depth: number): void {
    this.#line = [];
    this.lines.push(this.#line);
    if (depth > 0) this.#add("  ".repeat(depth));
  }

  #add(text: string, node?: ExplainedNode): void {
    this.#line.push(node ? { text, node } : { text });
  }

  #next(): ExplainedNode {
    const { value, done } = this.#nodes.next();
    if (done) throw new Error("the explanation belongs to another domain");
    return value;
  }
}
