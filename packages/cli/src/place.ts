import type { Position } from "@virtkit/node-agent/manifests";

/** A place in a manifest, as editors and terminals understand it: `FILE:LINE:COLUMN`. */
export function place({ source, line, column }: Position & { readonly source: string }): string {
  return `${source === "-" ? "stdin" : source}:${line}:${column}`;
}
