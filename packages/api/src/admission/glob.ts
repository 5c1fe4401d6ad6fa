/**
 * Whether a string matches a shell pattern, like Go's `filepath.Match`: `*` and `?` stop at `/`, `[a-c]`, `[^a]`
 * and `\x` work, and a malformed pattern matches nothing.
 *
 * The worst case is the product of both lengths: `*` never makes it exponential.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const steps = parse(pattern);
  if (!steps) return false;
  let step = 0;
  let at = 0;
  let star: { step: number; at: number } | undefined;
  while (at < text.length || step < steps.length) {
    const wanted = steps[step];
    if (wanted === "*") {
      star = { step: step++, at };
    } else if (wanted && at < text.length && wanted(text[at] ?? "")) {
      step++;
      at++;
    } else if (star && star.at < text.length && text[star.at] !== "/") {
      star = { step: star.step, at: star.at + 1 };
      step = star.step + 1;
      at = star.at;
    } else {
      return false;
    }
  }
  return true;
}

type Step = "*" | ((character: string) => boolean);

function parse(pattern: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let i = 0; i < pattern.length; ) {
    const read = readStep(pattern, i);
    if (!read) return undefined;
    steps.push(read.step);
    i = read.end;
  }
  return steps;
}

function readStep(pattern: string, at: number): { step: Step; end: number } | undefined {
  const character = pattern[at] ?? "";
  switch (character) {
    case "*":
      return { step: "*", end: at + 1 };
    case "?":
      return { step: (found) => found !== "/", end: at + 1 };
    case "[":
      return readClass(pattern, at + 1);
    case "\\": {
      const escaped = pattern[at + 1];
      return escaped === undefined
        ? undefined
        : { step: (found) => found === escaped, end: at + 2 };
    }
    default:
      return { step: (found) => found === character, end: at + 1 };
  }
}

function readClass(pattern: string, start: number): { step: Step; end: number } | undefined {
  const negated = pattern[start] === "^";
  const ranges: [string, string][] = [];
  let at = negated ? start + 1 : start;
  while (pattern[at] !== "]" || ranges.length === 0) {
    const low = readMember(pattern, at);
    if (!low) return undefined;
    const high = pattern[low.end] === "-" ? readMember(pattern, low.end + 1) : low;
    if (!high) return undefined;
    ranges.push([low.character, high.character]);
    at = high.end;
  }
  const inClass = (found: string): boolean =>
    ranges.some(([low, high]) => low <= found && found <= high);
  return { step: (found) => inClass(found) !== negated, end: at + 1 };
}

function readMember(pattern: string, at: number): { character: string; end: number } | undefined {
  const escaped = pattern[at] === "\\";
  const character = pattern[escaped ? at + 1 : at];
  if (character === undefined || (!escaped && (character === "-" || character === "]"))) {
    return undefined;
  }
  return { character, end: at + (escaped ? 2 : 1) };
}
