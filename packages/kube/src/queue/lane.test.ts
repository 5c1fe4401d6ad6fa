import { expect, test } from "vitest";
import { Lane } from "./lane.ts";

test("an item removed from the middle does not appear at the front", () => {
  const lane = new Lane<{ n: number }>();
  const [one, two, three] = [{ n: 1 }, { n: 2 }, { n: 3 }];
  for (const item of [one, two, three]) lane.push(item);
  lane.remove(two);
  lane.remove(two);
  lane.remove(one);
  expect([lane.peek(), lane.size]).toEqual([three, 1]);
  lane.remove(three);
  expect([lane.peek(), lane.size]).toEqual([undefined, 0]);
});

test("keeps its order over many items, even if it is never empty", () => {
  const lane = new Lane<{ n: number }>();
  for (let n = 0; n < 100; n++) lane.push({ n });
  for (let n = 0; n < 10_000; n++) {
    lane.push({ n: n + 100 });
    const first = lane.peek();
    expect(first?.n).toBe(n);
    if (first) lane.remove(first);
  }
  expect(lane.size).toBe(100);
});
