import fc from "fast-check";
import { expect, test } from "vitest";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { type Priority, WorkQueue } from "./work-queue.ts";

const headStart = 50;
const heads = { high: -headStart, normal: 0, low: headStart };

type Step =
  | { readonly do: "add"; readonly key: string; readonly priority: Priority }
  | {
      readonly do: "addAfter";
      readonly key: string;
      readonly delay: number;
      readonly priority: Priority;
    }
  | { readonly do: "take" }
  | { readonly do: "done"; readonly which: number }
  | { readonly do: "pass"; readonly time: number };

const key = fc.constantFrom("a", "b", "c", "d");
const priority = fc.constantFrom<Priority>("normal", "normal", "high", "low");
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ do: fc.constant("add" as const), key, priority }),
    fc.record({
      do: fc.constant("addAfter" as const),
      key,
      delay: fc.integer({ min: 0, max: 80 }),
      priority,
    }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("done" as const), which: fc.nat() }),
    fc.record({ do: fc.constant("pass" as const), time: fc.integer({ min: 1, max: 60 }) }),
  ),
  { maxLength: 60 },
);

/** The same contract, written for reading: lists that are searched from end to end. */
class NaiveQueue {
  waiting: { key: string; priority: Priority; queuedAt: number; order: number }[] = [];
  delayed: { key: string; priority: Priority; at: number; order: number }[] = [];
  taken = new Map<string, Priority | undefined>();
  now = 0;
  order = 0;

  add(key: string, priority: Priority): void {
    if (this.taken.has(key)) {
      const again = this.taken.get(key);
      if (!again || heads[priority] < heads[again]) this.taken.set(key, priority);
      return;
    }
    const known = this.waiting.find((item) => item.key === key);
    if (known && this.now + heads[priority] >= known.queuedAt + heads[known.priority]) return;
    this.waiting = this.waiting.filter((item) => item.key !== key);
    this.waiting.push({ key, priority, queuedAt: this.now, order: this.order++ });
  }

  addAfter(key: string, delay: number, priority: Priority): void {
    if (delay === 0) {
      this.add(key, priority);
      return;
    }
    const known = this.delayed.find((item) => item.key === key);
    const first = known && heads[known.priority] <= heads[priority] ? known.priority : priority;
    const at = this.now + delay;
    if (known && known.at <= at) known.priority = first;
    else {
      this.delayed = this.delayed.filter((item) => item !== known);
      this.delayed.push({ key, priority: first, at, order: this.order++ });
    }
  }

  take(): string | undefined {
    const rank = { high: 0, normal: 1, low: 2 };
    const [first] = this.waiting.toSorted(
      (a, b) =>
        a.queuedAt + heads[a.priority] - (b.queuedAt + heads[b.priority]) ||
        rank[a.priority] - rank[b.priority] ||
        a.order - b.order,
    );
    if (!first) return undefined;
    this.waiting = this.waiting.filter((item) => item !== first);
    this.taken.set(first.key, undefined);
    return first.key;
  }

  done(key: string): void {
    const again = this.taken.get(key);
    this.taken.delete(key);
    if (again) this.add(key, again);
  }

  pass(time: number): void {
    const end = this.now + time;
    for (;;) {
      const [due] = this.delayed
        .filter(({ at }) => at <= end)
        .sort((a, b) => a.at - b.at || a.order - b.order);
      if (!due) break;
      this.delayed = this.delayed.filter((item) => item !== due);
      this.now = Math.max(this.now, due.at);
      this.add(due.key, due.priority);
    }
    this.now = end;
  }
}

/** Does one step to the queue and to the model; both must hand out the same. */
async function doBoth(
  step: Step,
  queue: WorkQueue,
  model: NaiveQueue,
  clock: VirtualClock,
): Promise<void> {
  switch (step.do) {
    case "add":
      queue.add(step.key, step.priority);
      return model.add(step.key, step.priority);
    case "addAfter":
      queue.addAfter(step.key, step.delay, step.priority);
      return model.addAfter(step.key, step.delay, step.priority);
    case "take":
      return expect(queue.length > 0 ? await queue.get() : undefined).toBe(model.take());
    case "done": {
      const key = [...model.taken.keys()][step.which % model.taken.size];
      if (key === undefined) return;
      queue.done(key);
      return model.done(key);
    }
    case "pass":
      clock.passAtOnce(step.time);
      return model.pass(step.time);
  }
}

test("hands out the same keys as a naive model, whatever is done to it", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const clock = new VirtualClock();
      const queue = new WorkQueue({ clock, headStart });
      const model = new NaiveQueue();
      for (const step of all) {
        await doBoth(step, queue, model, clock);
        expect([queue.length, queue.taken]).toEqual([model.waiting.length, model.taken.size]);
      }
    }),
    { numRuns: 2_000 },
  );
});

/** What a controller needs of a queue. */
type Queue = Pick<WorkQueue, "add" | "get" | "done" | "length">;

/** Without the mark for keys that are added while they are taken: they are taken to be known already. */
class ForgetfulQueue implements Queue {
  readonly #known = new Set<string>();
  readonly #waiting: string[] = [];
  get length(): number {
    return this.#waiting.length;
  }
  add(key: string): void {
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#waiting.push(key);
  }
  async get(): Promise<string | undefined> {
    return this.#waiting.shift();
  }
  done(key: string): void {
    this.#known.delete(key);
  }
}

/** Without any memory of what is taken: every add is handed out. */
class CarelessQueue implements Queue {
  readonly #waiting: string[] = [];
  get length(): number {
    return this.#waiting.length;
  }
  add(key: string): void {
    if (!this.#waiting.includes(key)) this.#waiting.push(key);
  }
  async get(): Promise<string | undefined> {
    return this.#waiting.shift();
  }
  done(): void {}
}

/** Workers of objects that change while they work. */
class Workers {
  readonly versions = new Map<string, number>();
  readonly #seen = new Map<string, number>();
  readonly #atWork: string[] = [];
  readonly #queue: Queue;
  constructor(queue: Queue) {
    this.#queue = queue;
  }

  change(key: string, priority: Priority): void {
    this.versions.set(key, (this.versions.get(key) ?? 0) + 1);
    this.#queue.add(key, priority);
  }

  async take(): Promise<void> {
    if (this.#queue.length === 0) return;
    const key = (await this.#queue.get()) as string;
    if (this.#atWork.includes(key)) throw new Error(`two workers have ${key}`);
    this.#atWork.push(key);
    this.#seen.set(key, this.versions.get(key) ?? 0);
  }

  finish(which: number): void {
    const [key] = this.#atWork.splice(which % this.#atWork.length, 1);
    if (key !== undefined) this.#queue.done(key);
  }

  async finishAll(): Promise<void> {
    while (this.#queue.length > 0 || this.#atWork.length > 0) {
      await this.take();
      if (this.#queue.length === 0 || this.#atWork.length > 3) this.finish(0);
    }
    for (const [key, version] of this.versions) {
      if (this.#seen.get(key) !== version) throw new Error(`the last update of ${key} was lost`);
    }
  }
}

/** Throws if an update is lost, or two workers have one key. */
async function workThrough(queue: Queue, all: readonly Step[]): Promise<void> {
  const workers = new Workers(queue);
  for (const step of all) {
    if (step.do === "add") workers.change(step.key, step.priority);
    else if (step.do === "take") await workers.take();
    else if (step.do === "done") workers.finish(step.which);
  }
  await workers.finishAll();
}

const works = (make: () => Queue) => fc.asyncProperty(steps, (all) => workThrough(make(), all));

test("no update is lost, and no key is with two workers", async () => {
  await fc.assert(
    works(() => new WorkQueue()),
    { numRuns: 1_000 },
  );
});

test("control: a queue that does not mark keys added while they are taken loses an update", async () => {
  const { failed, errorInstance } = await fc.check(
    works(() => new ForgetfulQueue()),
    { numRuns: 1_000 },
  );
  expect([failed, String(errorInstance)]).toEqual([true, expect.stringContaining("was lost")]);
});

test("control: a queue that does not track taken keys gives one key to two workers", async () => {
  const { failed, errorInstance } = await fc.check(
    works(() => new CarelessQueue()),
    { numRuns: 1_000 },
  );
  expect([failed, String(errorInstance)]).toEqual([true, expect.stringContaining("two workers")]);
});
