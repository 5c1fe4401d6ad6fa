import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { createRateLimiter } from "./rate-limiter.ts";
import { WorkQueue } from "./work-queue.ts";

/** Takes and finishes all that waits, in the order in which it comes. */
async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.length > 0) {
    const key = (await queue.get()) ?? "";
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

test("a waiting key is not added twice", async () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b", "a"]) queue.add(key);
  expect(await takeAll(queue)).toEqual(["a", "b"]);
});

test("a key added while it is taken is handed out again after done, and not before", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  expect(await queue.get()).toBe("a");
  queue.add("a");
  queue.add("a");
  expect(queue.length).toBe(0);
  queue.done("a");
  expect(await takeAll(queue)).toEqual(["a"]);
});

test("waiting takers get keys in the order in which they asked", async () => {
  const queue = new WorkQueue();
  const takers = [queue.get(), queue.get()];
  queue.add("a");
  queue.add("b");
  expect(await Promise.all(takers)).toEqual(["a", "b"]);
  expect(queue.taken).toBe(2);
});

test("a signal ends one taker's wait and loses no key", async () => {
  const queue = new WorkQueue();
  const stop = new AbortController();
  const first = queue.get({ signal: stop.signal });
  const second = queue.get();
  stop.abort();
  queue.add("a");
  expect(await first).toBeUndefined();
  expect(await second).toBe("a");
});

test("a delay is kept, and the earlier of two delays for a key counts", async () => {
  const clock = new ManualClock();
  const queue = new WorkQueue({ clock });
  queue.addAfter("a", 500);
  queue.addAfter("a", 100);
  queue.addAfter("b", 300);
  queue.addAfter("b", 900);
  await clock.pass(99);
  expect(queue.length).toBe(0);
  await clock.pass(1);
  expect(await takeAll(queue)).toEqual(["a"]);
  await clock.pass(200);
  expect(await takeAll(queue)).toEqual(["b"]);
  await clock.pass(10_000);
  expect(queue.length).toBe(0);
  expect(clock.pending).toBe(0);
});

test("a priority is a head start, so nothing waits forever", async () => {
  const clock = new ManualClock();
  const queue = new WorkQueue({ clock, headStart: 1_000 });
  queue.add("low", "low");
  queue.add("normal");
  await clock.pass(500);
  queue.add("high", "high");
  expect(await queue.get()).toBe("high");
  const taken: (string | undefined)[] = [];
  // More than can be done comes in forever: one a step, and one is taken a step.
  for (let step = 0; step < 40; step++) {
    queue.add(`urgent-${step}`, "high");
    await clock.pass(100);
    taken.push(await queue.get());
  }
  expect(taken).toContain("normal");
  expect(taken).toContain("low");
  expect(taken.indexOf("normal")).toBeLessThan(taken.indexOf("low"));
});

test("a higher priority moves a waiting key up", async () => {
  const queue = new WorkQueue({ clock: new ManualClock() });
  queue.add("a");
  queue.add("b");
  queue.add("b", "high");
  queue.add("a", "low");
  expect(await takeAll(queue)).toEqual(["b", "a"]);
});

test("a key that is added over and over does not starve the others", async () => {
  const queue = new WorkQueue();
  queue.add("hot");
  queue.add("other");
  const taken: (string | undefined)[] = [];
  for (let step = 0; step < 4; step++) {
    const key = await queue.get();
    taken.push(key);
    queue.add("hot");
    queue.done(key ?? "");
  }
  expect(taken).toEqual(["hot", "other", "hot", "hot"]);
});

test("a key that fails waits twice as long each time, until it is forgotten", async () => {
  const clock = new ManualClock();
  const rateLimiter = createRateLimiter({ clock, firstDelay: 100, lastDelay: 400 });
  const queue = new WorkQueue({ clock, rateLimiter });
  const waits: number[] = [];
  for (let failure = 0; failure < 5; failure++) {
    if (failure === 4) queue.forget("a");
    const start = clock.now();
    queue.addRateLimited("a");
    const takenAt = queue.get().then(() => clock.now());
    await clock.pass(1_000);
    waits.push((await takenAt) - start);
    queue.done("a");
  }
  expect(waits).toEqual([100, 200, 400, 400, 100]);
  expect(queue.failures("a")).toBe(1);
});

test("a longer wait that the server asks for is honoured", async () => {
  const clock = new ManualClock();
  const queue = new WorkQueue({ clock });
  queue.addRateLimited("a", { atLeast: 2_000 });
  await clock.pass(1_999);
  expect(queue.length).toBe(0);
  await clock.pass(1);
  expect(queue.length).toBe(1);
});

test("after a shutdown nothing is added or handed out, and it ends when all taken keys are done", async () => {
  const clock = new ManualClock();
  const queue = new WorkQueue({ clock });
  for (const key of ["a", "b"]) queue.add(key);
  queue.addAfter("c", 10);
  await queue.get();
  queue.add("a");
  let isDown = false;
  const down = queue.shutDown().then(() => {
    isDown = true;
  });
  queue.add("d");
  expect(await queue.get()).toBeUndefined();
  await clock.pass(100);
  expect([isDown, queue.length, clock.pending]).toEqual([false, 0, 0]);
  queue.done("a");
  await down;
  expect(await queue.get()).toBeUndefined();
});

test("a draining shutdown hands out waiting keys, including updates that came in time", async () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b"]) queue.add(key);
  await queue.get();
  queue.add("a");
  const down = queue.shutDown({ drain: true });
  queue.add("late");
  queue.done("a");
  expect(await takeAll(queue)).toEqual(["b", "a"]);
  await down;
  expect(await queue.get()).toBeUndefined();
});

test("a shutdown releases waiting takers", async () => {
  const queue = new WorkQueue();
  const taker = queue.get();
  await queue.shutDown({ drain: true });
  expect(await taker).toBeUndefined();
});

test("done without get is an error", () => {
  const queue = new WorkQueue();
  queue.add("a");
  expect(() => queue.done("a")).toThrow(/done\("a"\): this key is not taken/);
});

test("depth, waits and retries are measured", async () => {
  const clock = new ManualClock();
  const told: unknown[] = [];
  const metrics = {
    count: (name: string, labels: unknown) => told.push([name, labels]),
    observe: (name: string, value: number) => told.push([name, value]),
  };
  const queue = new WorkQueue({ name: "vmi", clock, metrics });
  queue.add("a");
  await clock.pass(250);
  await queue.get();
  queue.addRateLimited("a");
  expect(told).toEqual([
    ["kube_queue_adds", { queue: "vmi" }],
    ["kube_queue_depth", 1],
    ["kube_queue_wait_seconds", 0.25],
    ["kube_queue_depth", 0],
    ["kube_queue_retries", { queue: "vmi" }],
  ]);
});
