import { expect, test } from "vitest";
import { StreamCount } from "./stream-limits.ts";

test("limits streams per VMI and in total, and frees a place only once", () => {
  const count = new StreamCount({ perVmi: 2, inAll: 3 });
  const first = count.take("a");
  expect(count.take("a")).toBeDefined();
  expect(count.take("a")).toBeUndefined();
  expect(count.take("b")).toBeDefined();
  expect(count.take("c")).toBeUndefined();
  first?.();
  first?.();
  expect(count.size).toBe(2);
  expect(count.take("a")).toBeDefined();
  expect(count.take("a")).toBeUndefined();
});
