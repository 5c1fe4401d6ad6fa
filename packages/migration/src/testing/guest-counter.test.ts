import { expect, test } from "vitest";
import { acknowledged } from "./guest-counter.ts";

test("a line counts once it is complete, not while it is written", () => {
  const first = { count: 1, uptime: "2.50" };
  expect(acknowledged("noise\nACK 1 2.50\r\nACK 2 3.1")).toEqual([first]);
  expect(acknowledged("ACK 1 2.50\nACK 2 3.17\r\n")).toEqual([first, { count: 2, uptime: "3.17" }]);
});

test("a line that a move cut in two does not count", () => {
  expect(acknowledged("ACK 7 9.")).toEqual([]);
  expect(acknowledged("ACK 7 9.ACK 8 10.02\r\n")).toEqual([]);
});
