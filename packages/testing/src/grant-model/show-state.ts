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
  pod,
  podOf,
  podState,
  vmi,
} from "./layout.ts";

function nameIn(table: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(table).find((name) => table[name] === value) ?? "?";
}

/** One line: the grant, what runs where, and what is broken. */
export function showState(s: Uint8Array): string {
  const isThere = get(s, at.vmi) === vmi.present;
  const parts = [grantText(s), isThere ? "" : `VMI ${nameIn(vmi, get(s, at.vmi))}`];
  for (let inc = 0; inc < incarnationCount; inc++) parts.push(incarnationText(s, inc));
  for (let m = 1; m <= get(s, at.migrationsUsed); m++) {
    if (fileOf(s, m) !== file.none) parts.push(`migration ${m} ${nameIn(file, fileOf(s, m))}`);
  }
  for (let n = 0; n < 2; n++) parts.push(nodeText(s, n));
  return parts.filter((part) => part !== "").join(" | ");
}

function grantText(s: Uint8Array): string {
  const [holder, target] = [get(s, at.holder), get(s, at.target)];
  const from = holder === nobody ? "" : ` ${holder}`;
  const to = target === nobody ? "" : ` -> ${target}`;
  return `${nameIn(grantState, get(s, at.grant))}${from}${to}`;
}

function incarnationText(s: Uint8Array, inc: number): string {
  if (containerOf(s, inc) === container.none) return "";
  const isDead = containerOf(s, inc) === container.dead;
  const state = podState(s, podOf(s, inc));
  const object = state === pod.present ? "" : ` (Pod ${nameIn(pod, state)})`;
  const stale = isStale(s, inc) ? " stale" : "";
  return `${inc}: ${isDead ? "dead" : nameIn(copy, copyOf(s, inc))}${stale}${object}`;
}

function nodeText(s: Uint8Array, n: number): string {
  const flags = node(s, n);
  const words = [
    flags & nodeBit.off ? "off" : "",
    flags & nodeBit.agent ? "" : "no agent",
    flags & nodeBit.apiCut ? "cut off" : "",
  ].filter(Boolean);
  return words.length > 0 ? `node ${n} ${words.join(", ")}` : "";
}
