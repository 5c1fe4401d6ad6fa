import { expect, test } from "vitest";
import type { DomainStatus } from "./domain-status.ts";
import type { GuestEvent } from "./guest-event.ts";
import { GuestEventQueue } from "./guest-event-queue.ts";

function queueOf(limit: number) {
  let name = "first";
  let ended = 0;
  const status = (): GuestEvent => ({
    at: "t",
    kind: "status",
    status: { name } as DomainStatus,
  });
  const queue = new GuestEventQueue({
    limit,
    current: status,
    now: () => "t",
    onEnd: () => ended++,
  });
  return { queue, status, rename: (to: string) => (name = to), ends: () => ended };
}
const stage: GuestEvent = { at: "t", kind: "stage", stage: "ready", state: "done" };
const value = async (queue: GuestEventQueue) => (await queue.next()).value;

test("the whole status comes first, then events", async () => {
  const { queue } = queueOf(10);
  queue.push(stage);
  expect(await value(queue)).toMatchObject({ kind: "status", status: { name: "first" } });
  expect(await value(queue)).toBe(stage);
  const next = queue.next();
  queue.push(stage);
  expect((await next).value).toBe(stage);
});

test("a slow reader gets resync and the present status, and costs no more than its limit", async () => {
  const { queue, rename } = queueOf(10);
  for (let i = 0; i < 100_000; i++) queue.push(stage);
  rename("now");
  expect(await value(queue)).toEqual({ at: "t", kind: "resync" });
  queue.push(stage);
  expect(await value(queue)).toMatchObject({ kind: "status", status: { name: "now" } });
  expect(await value(queue)).toBe(stage);
});

test("ends when it is left, and with an error if there is one", async () => {
  const left = queueOf(10);
  const waiting = queueOf(10);
  await left.queue.return();
  expect(await left.queue.next()).toEqual({ done: true, value: undefined });
  await waiting.queue.next();
  const next = waiting.queue.next();
  waiting.queue.end(new Error("gone"));
  await expect(next).rejects.toThrow("gone");
  await expect(waiting.queue.next()).rejects.toThrow("gone");
  expect([left.ends(), waiting.ends()]).toEqual([1, 1]);
});
