import { expect, test } from "vitest";
import type { Domain } from "../model/domain.ts";
import { domainWith } from "../testing/conversion.ts";
import { domainTree } from "./domain-tree.ts";
import { movedNodes } from "./moved-nodes.ts";

const domain = domainWith({
  devices: { interfaces: ["a", "b", "c"].map((name) => ({ name, bridge: {} })) },
  spec: { networks: ["a", "b", "c"].map((name) => ({ name, multus: { networkName: name } })) },
});

function moved(change: (domain: Domain) => unknown): string[] {
  const other = structuredClone(domain);
  change(other);
  return [...movedNodes(domainTree(domain), domainTree(other))].map(({ name }) => name);
}

test("nothing changes without a change, or by an addition", () => {
  expect(moved(() => undefined)).toEqual([]);
  expect(
    moved((other) => {
      other.onReboot = "destroy";
      other.devices.inputs.push({ type: "tablet", bus: "usb" });
    }),
  ).toEqual([]);
});

test("an attribute, a text or a flag changes alone", () => {
  expect(moved((other) => Object.assign(other.os.type, { machine: "x" }))).toEqual(["machine"]);
  expect(moved((other) => Object.assign(other, { name: "x" }))).toEqual(["name"]);
  expect(moved((other) => Object.assign(other.memory, { value: 5 }))).toEqual(["memory"]);
});

test("a removed item changes everything in it, and leaves its neighbours alone", () => {
  const [, second] =
    domainTree(domain)
      .children.find(({ name }) => name === "devices")
      ?.children.filter(({ name }) => name === "interface") ?? [];
  const gone = moved((other) => other.devices.interfaces.splice(1, 1));
  expect(gone).toEqual(namesIn(second));
});

test("an item whose name changes has only that changed", () => {
  expect(
    moved((other) => {
      const item = other.devices.interfaces[1];
      if (item) item.alias = { name: "ua-other" };
    }),
  ).toEqual(["name"]);
});

function namesIn(node: ReturnType<typeof domainTree> | undefined): string[] {
  if (!node) return [];
  const attributes = node.attributes.map(({ name }) => name);
  return [node.name, ...attributes, ...node.children.flatMap(namesIn)];
}
