import type { ExplainedNode, Source } from "@virtkit/converter/explain";

/** Sources that fit beside a line. */
const maxSources = 2;

/** Where a node comes from, in a few words. */
export function shortReason({ sources }: ExplainedNode): string {
  const shown = sources.slice(0, maxSources).map(shortSource).join(", ");
  const more = sources.length - maxSources;
  return more > 0 ? `${shown}, and ${more} more` : shown;
}

function shortSource({ kind, path, value }: Source): string {
  switch (kind) {
    case "field":
    case "environment":
      return path;
    case "default":
      return value === undefined ? `${path} (not set)` : `${path} (default)`;
    default:
      return `${kind} ${path.replace(/^context\./, "")}`;
  }
}
