import { HostError } from "../host-error.ts";

/** Default number of categories of a policy. */
const categories = 1024;

/** Options of {@link allocateLevel}. */
export interface AllocateLevelOptions {
  /** A number from 0 inclusive to 1 exclusive. Default `Math.random`. */
  readonly random?: () => number;
  /** Number of categories of the policy. Default 1,024. */
  readonly categories?: number;
}

/**
 * Allocates a level with two categories that no level in use has, so that two guests cannot touch
 * each other's files. Starts at a random pair and continues from there, so it finds a free pair if
 * there is one; throws `HOST_LIMIT_EXCEEDED` if all pairs are taken.
 */
export function allocateLevel(
  inUse: Iterable<string>,
  { random = Math.random, categories: count = categories }: AllocateLevelOptions = {},
): string {
  const taken = new Set<number>();
  for (const level of inUse) {
    const pair = parsePair(level, count);
    if (pair !== undefined) taken.add(pair);
  }
  const pairs = (count * (count - 1)) / 2;
  const start = Math.floor(random() * pairs);
  for (let step = 0; step < pairs; step++) {
    const index = (start + step) % pairs;
    if (!taken.has(index)) return formatPair(index, count);
  }
  const message = `all ${pairs} pairs of ${count} categories are in use; end a guest`;
  throw new HostError("HOST_LIMIT_EXCEEDED", message, { path: "level" });
}

/** Pairs low < high, counted row by row. */
function pairIndex(low: number, high: number, count: number): number {
  return low * count - (low * (low + 1)) / 2 + (high - low - 1);
}

function formatPair(index: number, count: number): string {
  let low = 0;
  let rest = index;
  while (rest >= count - 1 - low) rest -= count - 1 - low++;
  return `s0:c${low},c${low + 1 + rest}`;
}

function parsePair(level: string, count: number): number | undefined {
  const match = /^s0:c(\d{1,5}),c(\d{1,5})$/.exec(level);
  if (!match) return undefined;
  const [first, second] = [Number(match[1]), Number(match[2])];
  const [low, high] = [Math.min(first, second), Math.max(first, second)];
  return low !== high && high < count ? pairIndex(low, high, count) : undefined;
}
