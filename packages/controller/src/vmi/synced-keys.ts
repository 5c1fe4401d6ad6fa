import type { TextMap } from "../plan/map-patch.ts";

/**
 * A map that has some keys as another map has them: set, or removed. `example.com/*` stands for
 * every key with that prefix; a bare `*` would take over everything and is ignored.
 */
export function withSynced(map: TextMap, source: TextMap, patterns: readonly string[]): TextMap {
  const synced: Record<string, string> = { ...map };
  for (const key of patterns.flatMap((pattern) => matching(pattern, map, source))) {
    const value = Object.hasOwn(source, key) ? source[key] : undefined;
    if (value === undefined) delete synced[key];
    else synced[key] = value;
  }
  return synced;
}

function matching(pattern: string, ...maps: readonly TextMap[]): readonly string[] {
  if (pattern === "" || pattern === "*") return [];
  if (!pattern.endsWith("*")) return [pattern];
  const start = pattern.slice(0, -1);
  return maps.flatMap((map) => Object.keys(map).filter((key) => key.startsWith(start)));
}
