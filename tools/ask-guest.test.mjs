import { createServer } from "node:http";
import { expect, test } from "vitest";
import { keepAsking, summary } from "./ask-guest.mjs";

test("the longest time without an answer is the largest gap, beside the usual one", () => {
  expect(summary([0, 10, 20, 320, 330])).toEqual({ answers: 5, longestMs: 300, usualMs: 10 });
  expect(summary([])).toEqual({ answers: 0, longestMs: 0, usualMs: 0 });
});

test("asks a guest on a new connection each time, until it is stopped", async () => {
  let connections = 0;
  const server = createServer((_, answer) => answer.end("here")).on("connection", () => {
    connections++;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const asking = keepAsking(typeof address === "object" ? (address?.port ?? 0) : 0);
  await expect.poll(() => connections).toBeGreaterThan(2);
  const { answers } = await asking.stop();
  expect(answers).toBeGreaterThan(1);
  expect(answers).toBeLessThanOrEqual(connections);
  server.close();
});
