/** Nothing that Kubernetes serves is deeper in earnest; what is, is not shared below. */
const maxDepth = 40;

/**
 * Replaces parts of a value by equal parts of another one, and returns the other one itself where all of it is equal:
 * objects of one kind are alike, and a new version is mostly the old one. Changes the value, never the other.
 */
export function shareStructure<T>(value: T, like: unknown): T {
  return shared(value, like, maxDepth) as T;
}

function shared(value: unknown, like: unknown, depth: number): unknown {
  if (value === like || depth === 0 || !isTree(value) || !isTree(like)) return value;
  if (!Array.isArray(value)) {
    return Array.isArray(like) ? value : sharedObject(value, like, depth);
  }
  return Array.isArray(like) ? sharedArray(value, like, depth) : value;
}

// Apart from objects, and by `for in` there, because this is done to each event of a watch: it is twice as fast.
function sharedArray(value: unknown[], like: unknown[], depth: number): unknown[] {
  let isSame = value.length === like.length;
  for (let index = 0; index < value.length; index++) {
    const part = shared(value[index], like[index], depth - 1);
    if (part !== like[index]) isSame = false;
    else if (isTree(part)) value[index] = part;
  }
  return isSame ? like : value;
}

function sharedObject(value: Tree, like: Tree, depth: number): Tree {
  let isSame = true;
  let more = 0;
  for (const key in value) {
    // The one name that every object answers to.
    if (key === "__proto__") return value;
    more++;
    const part = shared(value[key], like[key], depth - 1);
    if (part !== like[key]) isSame = false;
    else if (isTree(part)) value[key] = part;
  }
  if (!isSame) return value;
  for (const _key in like) more--;
  return more === 0 ? like : value;
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}
