/** No real object of Kubernetes is deeper; below this depth nothing is shared. */
const maxDepth = 40;

/**
 * Replaces parts of a value with equal parts of another one, and returns the other one itself if all of it is
 * equal: objects of one kind are alike, and a new version is mostly the old one. Changes the value, never the
 * other. A frozen value is left as it is: a server in the same process has shared it already.
 */
export function shareStructure<T>(value: T, like: unknown): T {
  if (Object.isFrozen(value) || !isTree(value) || !isTree(like)) return value;
  return shared(value, like, maxDepth) as T;
}

function shared(value: Tree, like: Tree, depth: number): Tree {
  const isArray = Array.isArray(value);
  if (isArray !== Array.isArray(like) || depth === 0) return value;
  return isArray ? sharedArray(value, like, depth) : sharedObject(value, like, depth);
}

// This is done to each event of a watch. Arrays apart from objects, `for in` and no call for a plain value make it
// twice as fast as the obvious way.
function sharedArray(value: Tree, like: Tree, depth: number): Tree {
  const [parts, others] = [value as unknown as unknown[], like as unknown as unknown[]];
  let isSame = parts.length === others.length;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    const other = others[index];
    if (part === other) continue;
    if (isTree(part) && isTree(other) && shared(part, other, depth - 1) === other) {
      parts[index] = other;
    } else isSame = false;
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
    const part = value[key];
    const other = like[key];
    if (part === other) continue;
    if (isTree(part) && isTree(other) && shared(part, other, depth - 1) === other) {
      value[key] = other;
    } else isSame = false;
  }
  if (!isSame) return value;
  for (const _key in like) more--;
  return more === 0 ? like : value;
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}
