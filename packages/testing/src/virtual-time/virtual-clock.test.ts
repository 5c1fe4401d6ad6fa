import { expect, test } from "vitest";
import { SeededRandom } from "./seeded-random.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("timers fire in the order of their times, and timers of the same time in the order in which they were set", async () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  const random = new SeededRandom(7);
  const due = Array.from({ length: 500 }, (_, index) => ({ index, at: random.below(50) }));
  for (const { index, at } of due) clock.setTimeout(() => fired.push(`${at}.${index}`), at);
  await clock.pass(50);
  const inOrder = due.toSorted((one, other) => one.at - other.at || one.index - other.index);
  expect(fired).toEqual(inOrder.map(({ index, at }) => `${at}.${index}`));
  expect([clock.now(), clock.pending]).toEqual([50, 0]);
});

test("what a timer starts is done before the next timer", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const chain = async (): Promise<void> => {
    for (let step = 0; step < 20; step++) await Promise.resolve();
    seen.push("chain of the first");
  };
  clock.setTimeout(() => void chain(), 1);
  clock.setTimeout(() => seen.push("second"), 1);
  await clock.pass(1);
  expect(seen).toEqual(["chain of the first", "second"]);
});

test("a cleared timer does not fire, even if it is cleared twice", async () => {
  const clock = new VirtualClock();
  const timer = clock.setTimeout(() => expect.unreachable(), 1);
  clock.clearTimeout(timer);
  clock.clearTimeout(timer);
  await clock.pass(10);
  expect(clock.pending).toBe(0);
});

test("reports a condition that never holds", async () => {
  const clock = new VirtualClock();
  await expect(clock.passUntil(() => false, 1000)).rejects.toThrow("after 1 s of virtual time");
});

test("a seed fixes all numbers, and neighbouring seeds differ", () => {
  const draw = (seed: number) => {
    const random = new SeededRandom(seed);
    return [random.number(), random.below(1000), random.uuid(), random.fork().number()];
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(new SeededRandom(3).uuid()).toMatch(
    /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  );
});
