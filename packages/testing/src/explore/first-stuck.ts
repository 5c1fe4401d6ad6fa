import type { NumberList } from "./state-table.ts";

/**
 * The lowest number from which no way leads to an end, undefined if there is none. States are numbered
 * by their distance, so a few passes from the back to the front settle most of them.
 */
export function firstStuck(
  size: number,
  firstEdge: NumberList,
  edges: NumberList,
  isEnd: (number: number) => boolean,
): number | undefined {
  const reaches = new Uint8Array(size);
  for (let number = 0; number < size; number++) if (isEnd(number)) reaches[number] = 1;
  const hasWay = (number: number): boolean => {
    const last = number + 1 < size ? firstEdge.at(number + 1) : edges.length;
    for (let edge = firstEdge.at(number); edge < last; edge++) {
      if (reaches[edges.at(edge)] === 1) return true;
    }
    return false;
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (let number = size - 1; number >= 0; number--) {
      if (reaches[number] === 1 || !hasWay(number)) continue;
      reaches[number] = 1;
      changed = true;
    }
  }
  const stuck = reaches.indexOf(0);
  return stuck < 0 ? undefined : stuck;
}
