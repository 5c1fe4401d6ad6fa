/** Steps of a path: `.name`, `[0]`, `[*]`, and `[?(@.name=="value")]`. */
const step =
  /\.(?<name>\w+)|\[(?<index>\d+)\]|\[(?<all>\*)\]|\[\?\(@\.(?<key>\w+)=="(?<value>[^"]*)"\)\]/y;

/**
 * What is at a path of an object, as `kubectl -o jsonpath` prints it: several values are separated by spaces, and what does
 * not exist is empty. Tests that wait read objects several times a second; a `kubectl` each time would take the CPU that
 * emulated guests need.
 */
export function fieldAt(object: unknown, path: string): string {
  let found: readonly unknown[] = [object];
  for (step.lastIndex = 0; step.lastIndex < path.length; ) {
    const at = step.lastIndex;
    const { name, index, all, key = "", value } = step.exec(path)?.groups ?? {};
    if (name !== undefined) found = found.map((each) => Object(each)[name]);
    else if (index !== undefined) found = found.map((each) => Object(each)[Number(index)]);
    else if (all !== undefined) found = found.flatMap(itemsOf);
    else if (value !== undefined) {
      found = found.flatMap(itemsOf).filter((each) => Object(each)[key] === value);
    } else
      throw new Error(
        `${path}: found "${path.slice(at)}"; use .NAME, [0], [*] or [?(@.NAME=="VALUE")]`,
      );
  }
  const known = found.filter((each) => each !== undefined && each !== null);
  return known
    .map((each) => (typeof each === "object" ? JSON.stringify(each) : String(each)))
    .join(" ");
}

function itemsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}
