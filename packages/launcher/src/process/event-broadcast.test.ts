import { expect, test } from "vitest";
import { EventBroadcast } from "./event-broadcast.ts";

/** A stream that is fed by hand. */
class Source<T> {
  readonly #items: (T | "end")[] = [];
  #wake = (): void => {};
  open = true;

  push(item: T | "end"): void {
    this.#items.push(item);
    this.#wake();
  }

  async *stream(): AsyncIterable<T> {
    try {
      for (;;) {
        const item = this.#items.shift();
        if (item === "end") return;
        if (item !== undefined) yield item;
        else await new Promise<void>((resolve) => this.#wait(resolve));
      }
    } finally {
      this.open = false;
    }
  }

  #wait(resolve: () => void): void {
    this.#wake = resolve;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("merges pushed items into the stream, for all readers", async () => {
  const fan = new EventBroadcast<number>();
  const from = new Source<number>();
  const seen: number[] = [];
  const reading = (async () => {
    for await (const item of fan.join(from.stream())) seen.push(item);
  })();
  await turn();
  from.push(1);
  await turn();
  fan.push(2);
  fan.push(3);
  await turn();
  from.push(4);
  await turn();
  from.push("end");
  await reading;
  fan.push(5);
  expect(seen).toEqual([1, 2, 3, 4]);
});

test("ends with the signal, together with the stream behind it", async () => {
  const fan = new EventBroadcast<number>();
  const from = new Source<number>();
  const controller = new AbortController();
  const reading = (async () => {
    for await (const _ of fan.join(from.stream(), controller.signal));
  })();
  await turn();
  controller.abort();
  await reading;
  from.push(1);
  await turn();
  expect(from.open).toBe(false);
});

test("passes an error of the stream to the reader", async () => {
  const fan = new EventBroadcast<number>();
  const broken = (async function* (): AsyncIterable<number> {
    yield 1;
    throw new Error("gone");
  })();
  const reading = (async () => {
    for await (const _ of fan.join(broken));
  })();
  await expect(reading).rejects.toThrow("gone");
});
