/** The fields that were read below an object; a present one may have been absent. */
export type Reads = Map<string, Reads>;

/** Deeper than any VMI; what is below counts as one value. */
const maxDepth = 40;

/**
 * A copy of a plain value that records which of its fields are read. The copy is watched, because a proxy must
 * not stand for the parts of a frozen object.
 */
export function recordReads(value: unknown): { readonly watched: unknown; readonly reads: Reads } {
  const reads: Reads = new Map();
  return { watched: watch(value, reads, 0), reads };
}

function watch(value: unknown, reads: Reads, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > maxDepth) return value;
  const copy: object = Array.isArray(value) ? [...value] : { ...value };
  const children = new Map<string, unknown>();
  const note = (key: string | symbol): Reads | undefined => {
    if (typeof key === "symbol" || (!Object.hasOwn(copy, key) && key in copy)) return undefined;
    if (Array.isArray(copy) && key === "length") return undefined;
    const known = reads.get(key) ?? new Map<string, Reads>();
    reads.set(key, known);
    return known;
  };
  return new Proxy(copy, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      const noted = note(key);
      if (!noted || typeof key === "symbol") return found;
      if (!children.has(key)) children.set(key, watch(found, noted, depth + 1));
      return children.get(key);
    },
    has(target, key) {
      note(key);
      return Reflect.has(target, key);
    },
    getOwnPropertyDescriptor(target, key) {
      note(key);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}
