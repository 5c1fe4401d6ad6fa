import {
  type ExplainedNode,
  type Explanation,
  type XmlLine,
  xmlLines,
} from "@virtkit/converter/explain";
import { shortReason } from "./short-reason.ts";
import type { Styles } from "./styles.ts";

/** Lines longer than this have their reasons below them. */
const maxWidth = 64;

/**
 * The XML of a domain with the reasons beside it, one for each element and for each attribute with another
 * reason than its element; then the named rules. Only lines that write one of the given nodes are shown.
 */
export function explainedXml(
  explanation: Explanation,
  nodes: ReadonlySet<ExplainedNode>,
  styles: Styles,
): string {
  const all = nodes.size === explanation.nodes.length;
  const lines = xmlLines(explanation).filter(
    (line) => all || line.some(({ node }) => node && nodes.has(node)),
  );
  const width = Math.min(maxWidth, Math.max(...lines.map((line) => textOf(line).length)));
  const shown = lines.map((line) => explainedLine(line, nodes, width, styles));
  return `${shown.join("")}${rulesOf(nodes, styles)}`;
}

function textOf(line: XmlLine): string {
  return line.map(({ text }) => text).join("");
}

function explainedLine(
  line: XmlLine,
  nodes: ReadonlySet<ExplainedNode>,
  width: number,
  styles: Styles,
): string {
  const text = textOf(line);
  const reasons = reasonsOf(line, nodes);
  const [first = "", ...others] = text.length > width ? ["", ...reasons] : reasons;
  const beside = first === "" ? text : `${text.padEnd(width)}  ${styles.aside(first)}`;
  const below = others.map((reason) => `${" ".repeat(width)}  ${styles.aside(reason)}`);
  return [beside, ...below].map((shown) => `${shown}\n`).join("");
}

/** One line for the element and one for each set of attributes with the same other reason. */
function reasonsOf(line: XmlLine, nodes: ReadonlySet<ExplainedNode>): string[] {
  const named = new Map<string, string[]>();
  for (const node of new Set(line.flatMap((token) => token.node ?? []))) {
    if (!nodes.has(node)) continue;
    const reason = shortReason(node);
    named.set(reason, [...(named.get(reason) ?? []), node.kind === "element" ? "" : node.name]);
  }
  return [...named].map(([reason, names]) =>
    names.includes("") ? reason : `${names.map((name) => `@${name}`).join(" ")}: ${reason}`,
  );
}

function rulesOf(nodes: ReadonlySet<ExplainedNode>, styles: Styles): string {
  const rules = new Map<string, string>();
  for (const { sources } of nodes) {
    for (const { kind, path, because } of sources) {
      if (kind === "rule" || kind === "hook") rules.set(`${kind} ${path}`, because);
    }
  }
  if (rules.size === 0) return "";
  const lines = [...rules].map(([name, summary]) => `  ${styles.strong(name)}: ${summary}\n`);
  return `\n${lines.join("")}`;
}
