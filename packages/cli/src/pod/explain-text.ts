import type { ExplainedPod, Provenance } from "@virtkit/launcher-pod";

/** The kinds of parts, in the order in which they are shown. */
const sections: readonly (readonly [title: string, pattern: RegExp])[] = [
  ["Containers", /^spec\.containers\[([^\]]+)\]$/],
  ["Init containers", /^spec\.initContainers\[([^\]]+)\]$/],
  ["Volumes", /^spec\.volumes\[(.+)\]$/],
  ["Requests of compute", /^spec\.containers\[compute\]\.resources\.requests\[(.+)\]$/],
  ["Limits of compute", /^spec\.containers\[compute\]\.resources\.limits\[(.+)\]$/],
  ["Claims of compute", /^spec\.containers\[compute\]\.resources\.claims\[(.+)\]$/],
  ["Node selector", /^spec\.nodeSelector\[(.+)\]$/],
  ["Affinity", /^spec\.(affinity.*)$/],
  ["Annotations", /^metadata\.annotations\[(.+)\]$/],
  ["Labels", /^metadata\.labels\[(.+)\]$/],
];

/** Says in plain lines where each part of a Pod comes from, and what the memory overhead consists of. */
export function explainText(explained: ExplainedPod): string {
  const { pod, provenance, memoryOverhead } = explained;
  const { namespace, ownerReferences } = pod.metadata;
  const blocks = sections.map(([title, pattern]) =>
    block(title, rows(provenance, pattern, values(explained, title))),
  );
  const { total, parts } = memoryOverhead;
  const overhead = parts.map(({ name, amount, because }) => [name, `${amount}`, because]);
  return [
    `Launcher Pod of ${namespace}/${ownerReferences?.[0]?.name}\n`,
    ...blocks,
    block(`Memory overhead: ${total}`, overhead),
  ].join("");
}

/** A part with its value, where it comes from, and why. */
function rows(
  provenance: readonly Provenance[],
  pattern: RegExp,
  known: Readonly<Record<string, string>>,
): string[][] {
  return provenance.flatMap(({ part, from, because }) => {
    const name = pattern.exec(part)?.[1];
    if (name === undefined) return [];
    const reason = `${from}: ${because}`;
    const value = Object.hasOwn(known, name) ? known[name] : undefined;
    return [value === undefined ? [name, reason] : [name, value, reason]];
  });
}

function values({ pod }: ExplainedPod, title: string): Readonly<Record<string, string>> {
  const { spec } = pod;
  const resources = spec.containers[0]?.resources;
  if (title === "Requests of compute") return resources?.requests ?? {};
  if (title === "Limits of compute") return resources?.limits ?? {};
  return title === "Node selector" ? (spec.nodeSelector ?? {}) : {};
}

/** A title and lines in columns; nothing without lines. */
function block(title: string, lines: readonly (readonly string[])[]): string {
  if (lines.length === 0) return "";
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  const shown = lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `\n${title}\n${shown.map((line) => `  ${line}\n`).join("")}`;
}
