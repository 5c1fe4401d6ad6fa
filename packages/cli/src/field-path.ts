const step = /\.?([^.[\]]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]/gy;

/**
 * The steps of a field's name as Kubernetes writes it: `spec.disks[0].name`, `metadata.labels["a/b"]`,
 * `metadata.annotations[a/b]`. Anything that does not look like a step ends it.
 */
export function fieldPath(text: string): (string | number)[] {
  const path: (string | number)[] = [];
  for (const [, name, index, quoted, bare] of text.matchAll(step)) {
    if (index !== undefined) path.push(Number(index));
    else path.push(name ?? (quoted === undefined ? (bare ?? "") : unquote(quoted)));
  }
  return path;
}

function unquote(text: string): string {
  return text.replaceAll(/\\(.)/g, "$1");
}
