/** A line of two texts: in both, or in one of them. */
export interface DiffLine<T> {
  readonly side: "both" | "removed" | "added";
  readonly line: T;
}

/** The shortest way from one list of lines to the other, as a longest common subsequence. */
export function lineDiff<T>(
  before: readonly T[],
  after: readonly T[],
  textOf: (line: T) => string,
): DiffLine<T>[] {
  const [one, two] = [before.map(textOf), after.map(textOf)];
  const common = commonLengths(one, two);
  const lines: DiffLine<T>[] = [];
  let [at, to] = [0, 0];
  while (at < one.length || to < two.length) {
    if (at < one.length && to < two.length && one[at] === two[to]) {
      lines.push({ side: "both", line: after[to] as T });
      at++;
      to++;
    } else if (
      to >= two.length ||
      (at < one.length && lengthAt(common, at + 1, to) >= lengthAt(common, at, to + 1))
    ) {
      lines.push({ side: "removed", line: before[at] as T });
      at++;
    } else {
      lines.push({ side: "added", line: after[to] as T });
      to++;
    }
  }
  return lines;
}

/** Lengths of the longest common subsequences of what follows each pair of positions. */
function commonLengths(one: readonly string[], two: readonly string[]): number[][] {
  const lengths = Array.from({ length: one.length + 1 }, () =>
    new Array<number>(two.length + 1).fill(0),
  );
  for (let at = one.length - 1; at >= 0; at--) {
    const row = lengths[at] as number[];
    for (let to = two.length - 1; to >= 0; to--) {
      row[to] =
        one[at] === two[to]
          ? lengthAt(lengths, at + 1, to + 1) + 1
          : Math.max(lengthAt(lengths, at + 1, to), lengthAt(lengths, at, to + 1));
    }
  }
  return lengths;
}

function lengthAt(lengths: readonly (readonly number[])[], at: number, to: number): number {
  return lengths[at]?.[to] ?? 0;
}
