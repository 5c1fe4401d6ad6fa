import { ManualClock } from "@virtkit/api/clock";
import { expect, test, vi } from "vitest";
import { VerbQueue } from "./verb-queue.ts";

const timeout = 1000;

/** Work that ends when the test says so. */
function held<T>(result: T) {
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const started = vi.fn();
  const work = async (): Promise<T> => {
    started();
    await done;
    return result;
  };
  return { work, finish, started };
}

test("runs verbs one at a time, in order; reads run beside them", async () => {
  const queue = new VerbQueue(new ManualClock());
  const [one, two] = [held(1), held(2)];
  const first = queue.run({ name: "one", timeout, work: one.work });
  const second = queue.run({ name: "two", timeout, work: two.work });
  expect(await queue.beside({ name: "read", timeout, work: async () => "read" })).toBe("read");
  expect([one.started.mock.calls.length, two.started.mock.calls.length]).toEqual([1, 0]);
  one.finish();
  expect(await first).toBe(1);
  two.finish();
  expect(await second).toBe(2);
});

test("answers a caller at its deadline, while the next verb waits for the work itself", async () => {
  const clock = new ManualClock();
  const queue = new VerbQueue(clock);
  const stuck = held("late");
  const next = held("next");
  const first = queue.run({ name: "freeze", timeout, work: stuck.work });
  const second = queue.run({ name: "pause", timeout: 5000, work: next.work });
  const late = expect(first).rejects.toMatchObject({ code: "DOMAIN_TIMEOUT", path: "freeze" });
  await clock.pass(timeout);
  await late;
  expect(next.started).not.toHaveBeenCalled();
  stuck.finish();
  await vi.waitFor(() => expect(next.started).toHaveBeenCalled());
  next.finish();
  expect(await second).toBe("next");
});

test("time in the queue counts, and a caller that has left it is skipped", async () => {
  const clock = new ManualClock();
  const queue = new VerbQueue(clock);
  const one = held(1);
  const work = vi.fn(async () => {});
  const first = queue.run({ name: "one", timeout: 9000, work: one.work });
  const late = queue.run({ name: "two", timeout: 9000, options: { timeout: 10 }, work });
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const left = queue.run({ name: "three", timeout: 9000, options, work });
  controller.abort(new Error("bored"));
  await expect(left).rejects.toMatchObject({ code: "DOMAIN_TIMEOUT", cause: { message: "bored" } });
  const tooLate = expect(late).rejects.toMatchObject({ code: "DOMAIN_TIMEOUT" });
  await clock.pass(10);
  await tooLate;
  one.finish();
  await first;
  expect(work).not.toHaveBeenCalled();
  await queue.run({ name: "four", timeout, work });
  expect(work).toHaveBeenCalledOnce();
});

test("an urgent verb ends what is in progress and goes first", async () => {
  const queue = new VerbQueue(new ManualClock());
  const order: string[] = [];
  const first = queue.run({
    name: "sync",
    timeout,
    work: async ({ signal }) => {
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  const waiting = queue.run({ name: "pause", timeout, work: async () => void order.push("pause") });
  const kill = queue.run({
    name: "kill",
    timeout,
    urgent: true,
    work: async () => void order.push("kill"),
  });
  await expect(first).rejects.toMatchObject({ code: "DOMAIN_STATE", path: "kill" });
  await Promise.all([kill, waiting]);
  expect(order).toEqual(["kill", "pause"]);
});

test("turns what a verb throws into an error of this package that names the verb", async () => {
  const queue = new VerbQueue(new ManualClock());
  const work = async (): Promise<never> => {
    throw new TypeError("x is not a function");
  };
  await expect(queue.run({ name: "reset", timeout, work })).rejects.toMatchObject({
    name: "DomainManagerError",
    message: expect.stringContaining("reset: x is not"),
  });
  expect(await queue.run({ name: "next", timeout, work: async () => 1 })).toBe(1);
});
