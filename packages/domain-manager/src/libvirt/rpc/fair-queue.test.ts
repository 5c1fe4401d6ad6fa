import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

function drain<T>(queue: FairQueue<T>): T[] {
  const items: T[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

test("keys take turns and keep their own order", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.add(item.charAt(0), item);
  expect(queue.size).toBe(6);
  expect(drain(queue)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  expect(queue.size).toBe(0);
});

test("a removed item is not handed out, and removing it again changes nothing", () => {
  const queue = new FairQueue<string>();
  queue.add("a", "a1");
  queue.add("a", "a2");
  queue.remove("a", "a1");
  queue.remove("a", "a1");
  queue.remove("z", "z1");
  expect(queue.size).toBe(1);
  expect(drain(queue)).toEqual(["a2"]);
});
