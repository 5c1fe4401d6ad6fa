import { SaxesParser } from "saxes";

/** An element as tests compare it. */
export interface XmlTree {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: XmlTree[];
  /** Text, joined; white space alone does not count if there are child elements. */
  text: string;
}

/** Reads a document with saxes, which refuses what is not well-formed. */
export function readXmlTree(xml: string): XmlTree {
  const parser = new SaxesParser();
  const top: XmlTree = { name: "", attributes: {}, children: [], text: "" };
  const stack = [top];
  const current = (): XmlTree => stack.at(-1) ?? top;
  parser.on("opentag", (tag) => {
    const attributes = tag.attributes as Record<string, string>;
    const node: XmlTree = { name: tag.name, attributes: { ...attributes }, children: [], text: "" };
    current().children.push(node);
    stack.push(node);
  });
  const addText = (text: string): void => {
    current().text += text;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    const node = current();
    if (node.children.length > 0 && node.text.trim() === "") node.text = "";
    stack.pop();
  });
  parser.write(xml).close();
  const [root] = top.children;
  if (!root) throw new Error("the document has no element");
  return root;
}

/**
 * How two trees differ, one line each. The order of attributes and the white space between elements do not
 * count; children are compared in order with those of the same name.
 */
export function diffXmlTrees(
  actual: XmlTree,
  expected: XmlTree,
  path: string = expected.name,
): string[] {
  const differences = diffAttributes(actual, expected, path);
  if (actual.text.trim() !== expected.text.trim()) {
    differences.push(`${path}: text ${show(actual.text)}, not ${show(expected.text)}`);
  }
  const [ours, theirs] = [byName(actual), byName(expected)];
  for (const name of keysOf(ours, theirs)) {
    differences.push(...diffLists(ours[name] ?? [], theirs[name] ?? [], `${path}/${name}`));
  }
  return differences;
}

function diffAttributes(actual: XmlTree, expected: XmlTree, path: string): string[] {
  return keysOf(actual.attributes, expected.attributes)
    .filter((name) => actual.attributes[name] !== expected.attributes[name])
    .map((name) => {
      const [found, wanted] = [actual.attributes[name], expected.attributes[name]];
      return `${path}/@${name}: ${show(found)}, not ${show(wanted)}`;
    });
}

function diffLists(ours: XmlTree[], theirs: XmlTree[], path: string): string[] {
  const differences: string[] = [];
  for (let at = 0; at < Math.max(ours.length, theirs.length); at++) {
    const [one, other] = [ours[at], theirs[at]];
    const here = at > 0 ? `${path}[${at}]` : path;
    if (one && other) differences.push(...diffXmlTrees(one, other, here));
    else differences.push(`${here}: ${one ? "too many" : "missing"}`);
  }
  return differences;
}

function byName({ children }: XmlTree): Record<string, XmlTree[]> {
  const groups: Record<string, XmlTree[]> = Object.create(null);
  for (const child of children) {
    groups[child.name] ??= [];
    groups[child.name]?.push(child);
  }
  return groups;
}

function keysOf(...records: Record<string, unknown>[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

function show(value: string | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
