import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";
import { domainTree, type TreeNode } from "./domain-tree.ts";
import { NodeMatcher } from "./match-nodes.ts";

function treeOf(names: readonly string[]): TreeNode {
  return domainTree(
    domainWith({
      devices: { interfaces: names.map((name) => ({ name, bridge: {} })) },
      spec: { networks: names.map((name) => ({ name, multus: { networkName: name } })) },
    }),
  );
}

function interfaces(tree: TreeNode): readonly TreeNode[] {
  const devices = tree.children.find(({ name }) => name === "devices");
  return devices?.children.filter(({ name }) => name === "interface") ?? [];
}

const whole = treeOf(["a", "b", "c"]);
const narrow = treeOf(["b"]);
const matcher = new NodeMatcher(whole);

test("finds a device by its name, with everything in it", () => {
  const matches = matcher.match(narrow);
  const [ours] = interfaces(narrow);
  const [, theirs] = interfaces(whole);
  expect(ours && matches.get(ours)).toBe(theirs);
  expect(ours?.attributes.map((attribute) => matches.get(attribute))).toEqual(theirs?.attributes);
  expect(matches.get(narrow)).toBe(whole);
});

test("leaves out what is ambiguous or missing", () => {
  const nameless = structuredClone(narrow) as { children: TreeNode[] } & TreeNode;
  const [device] = interfaces(nameless);
  if (!device) throw new Error("no interface");
  Object.assign(device, { children: device.children.filter(({ name }) => name !== "alias") });
  expect(matcher.match(nameless).has(device)).toBe(false);
});

test("knows devices with a name, and nothing around them", () => {
  const [device] = interfaces(whole);
  expect(device && matcher.named.has(device)).toBe(true);
  expect(matcher.named.has(whole)).toBe(false);
});
