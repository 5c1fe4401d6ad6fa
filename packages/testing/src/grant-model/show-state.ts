import {
  at,
  container,
  containerOf,
  copy,
  copyOf,
  file,
  fileOf,
  get,
  grantState,
  incarnationCount,
  isStale,
  nobody,
  node,
  nodeBit,
  podOf,
  pod,
  podState,
  vmi,
} from "./layout.ts";

function nameIn(table: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(table).find((name) => table[name] === value) ?? "?";
}

/** One line: the grant, what runs where, and what is broken. */
export function showState(s: Uint8Array): string {
  const who = (value: number): string => (value === nobody ? "" : ` ${value}`);
  const parts = [
    `${nameIn(grantState, get(s, at.grant))}${who(get(s, at.holder))}${get(s, at.target) === nobody ? "" : ` ->${who(get(s, at.target))}`}`,
  ];
  if (get(s, at.vmi) !== vmi.present) parts.push(`VMI ${nameIn(vmi, get(s, at.vmi))}`);
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (containerOf(s, inc) === container.none) continue;
    const what = containerOf(s, inc) === container.dead ? "dead" : nameIn(copy, copyOf(s, inc));
    const p = podOf(s, inc);
    const object = podState(s, p) === pod.present ? "" : ` (Pod ${nameIn(pod, podState(s, p))})`;
    parts.push(`${inc}: ${what}${isStale(s, inc) ? " stale" : ""}${object}`);
  }
  for (let m = 1; m <= get(s, at.migrationsUsed); m++) {
    if (fileOf(s, m) !== file.none) parts.push(`migration ${m} ${nameIn(file, fileOf(s, m))}`);
  }
  for (let n = 0; n < 2; n++) {
    const flags = node(s, n);
    const words = [
      flags & nodeBit.off ? "off" : "",
      flags & nodeBit.agent ? "" : "no agent",
      flags & nodeBit.apiCut ? "cut off" : "",
    ].filter(Boolean);
    if (words.length > 0) parts.push(`node ${n} ${words.join(", ")}`);
  }
  return parts.join(" | ");
}
