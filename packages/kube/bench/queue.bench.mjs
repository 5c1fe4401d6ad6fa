import { WorkQueue } from "@virtkit/kube/queue";

const keys = Array.from({ length: 1_000 }, (_, index) => `default/key-${index}`);

/** Adds, takes and finishes each key. @param {WorkQueue} queue */
async function passAll(queue) {
  for (const key of keys) queue.add(key);
  for (const _ of keys) queue.done((await queue.get()) ?? "");
  return keys.length;
}

/** @type {import("../../../tools/bench/benchmark.mjs").Benchmark[]} */
export const benchmarks = [
  {
    name: "kube: add a key to a queue, take it and finish it",
    goal: "at most 2 us",
    allocations: true,
    subject: { name: "WorkQueue", prepare: () => new WorkQueue(), run: passAll },
  },
];
