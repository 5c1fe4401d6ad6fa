import { type ExplainedNode, nodesFrom } from "@virtkit/converter/explain";
import type { Styles } from "./styles.ts";

/** What follows from each field within `field`: the field with its value, then the nodes. */
export function explainedFields(
  nodes: readonly ExplainedNode[],
  field: string,
  styles: Styles,
): string {
  const byField = new Map<string, string[]>();
  for (const node of nodes) {
    for (const source of node.sources) {
      // A source outside the field belongs to another reason for the same node.
      const single = { ...node, sources: [source] };
      if (nodesFrom([single], field).length === 0) continue;
      const title = `${styles.strong(source.path)}${shownValue(source.value)}`;
      byField.set(title, [...(byField.get(title) ?? []), `  ${styles.aside(shownNode(node))}\n`]);
    }
  }
  return [...byField].map(([title, lines]) => `${title}\n${lines.join("")}`).join("");
}

function shownValue(value: unknown): string {
  if (value === undefined) return " (not set)";
  return typeof value === "object" ? "" : ` = ${String(value)}`;
}

function shownNode({ path, value }: ExplainedNode): string {
  return value === undefined ? path : `${path} = ${JSON.stringify(value)}`;
}
