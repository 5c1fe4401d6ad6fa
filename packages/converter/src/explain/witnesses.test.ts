import { expect, test } from "vitest";
import type { TreeNode } from "./domain-tree.ts";
import { Witnesses } from "./witnesses.ts";

function field(at: number, key = "bus") {
  const path = ["disks", at, key];
  return { input: "vmi", path, present: true, value: "x", others: [] };
}

const node = (name: string) => ({ name }) as TreeNode;

test("tries the first items of a list, and others only for nodes that need them", () => {
  const witnesses = new Witnesses();
  expect([0, 1, 2, 3].map((at) => witnesses.take(field(at), []))).toEqual([
    ...[true, true, false, false],
  ]);
  expect(witnesses.take(field(4, "name"), [])).toBe(true);
  const shared = node("iothreads");
  const taken = Array.from({ length: 20 }, (_, at) => witnesses.take(field(at), [shared]));
  expect(taken.filter(Boolean)).toHaveLength(8);
  expect(witnesses.take(field(30), [shared, node("controller")])).toBe(true);
});

test("always tries what is unknown in the whole domain", () => {
  const witnesses = new Witnesses();
  for (let at = 0; at < 50; at++) expect(witnesses.take(field(at), [undefined])).toBe(true);
});
