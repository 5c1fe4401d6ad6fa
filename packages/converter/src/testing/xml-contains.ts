import type { XmlTree } from "@virtkit/conformance/recorded";

/**
 * The parts of a tree that are missing in another one, one line each. The other may have more of everything: attributes,
 * elements, other elements between. A child is matched with those of its name; of several, the one with the
 * fewest missing parts counts.
 */
export function missingFrom(wanted: XmlTree, found: XmlTree, path = wanted.name): string[] {
  const missing: string[] = [];
  for (const [name, value] of Object.entries(wanted.attributes)) {
    const other = found.attributes[name];
    if (!sameValue(value, other))
      missing.push(`${path}/@${name}: ${value}, not ${other ?? "there"}`);
  }
  if (!sameValue(wanted.text.trim(), found.text.trim())) {
    missing.push(`${path}: text ${wanted.text}, not ${found.text}`);
  }
  const left = [...found.children];
  for (const child of wanted.children) missing.push(...missingChild(child, left, path));
  return missing;
}

function missingChild(child: XmlTree, left: XmlTree[], path: string): string[] {
  const here = `${path}/${child.name}`;
  let best: string[] | undefined;
  let taken = -1;
  for (const [at, candidate] of left.entries()) {
    if (candidate.name !== child.name) continue;
    const lacks = missingFrom(child, candidate, here);
    if (best && lacks.length >= best.length) continue;
    best = lacks;
    taken = at;
  }
  if (!best) return isBare(child) ? [] : [`${here}: not there`];
  left.splice(taken, 1);
  return best;
}

/** An element without meaning: `<source/>`, `<bios/>`. */
function isBare({ attributes, children, text }: XmlTree): boolean {
  return Object.keys(attributes).length === 0 && children.length === 0 && text.trim() === "";
}

/** Numbers are compared by value, whatever libvirt's notation. */
function sameValue(wanted: string, found: string | undefined): boolean {
  if (wanted === found || (wanted === "" && found === undefined)) return true;
  const number = /^(?:0x[\da-f]+|\d+)$/i;
  return (
    found !== undefined &&
    number.test(wanted) &&
    number.test(found) &&
    Number(wanted) === Number(found)
  );
}
