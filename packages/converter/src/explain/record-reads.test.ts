import { expect, test } from "vitest";
import { type Reads, recordReads } from "./record-reads.ts";

interface Sample {
  a: { b: number; c?: number };
  list: { x: number }[];
  unread: number;
}

function readBy(read: (value: Sample) => unknown): unknown {
  const sample = Object.freeze({
    a: Object.freeze({ b: 1 }),
    list: [{ x: 1 }, { x: 2 }],
    unread: 0,
  });
  const { watched, reads } = recordReads(sample);
  read(watched as Sample);
  return asObject(reads);
}

function asObject(reads: Reads): unknown {
  return Object.fromEntries([...reads].map(([key, inner]) => [key, asObject(inner)]));
}

test("records what is read, present or not, and nothing else", () => {
  expect(readBy(({ a }) => [a.b, a.c])).toEqual({ a: { b: {}, c: {} } });
  expect(readBy(({ a }) => Object.hasOwn(a, "c"))).toEqual({ a: { c: {} } });
  expect(readBy(({ a }) => "b" in a)).toEqual({ a: { b: {} } });
});

test("records the items of a list that are read, not its methods", () => {
  expect(readBy(({ list }) => list.map(({ x }) => x))).toEqual({
    list: { 0: { x: {} }, 1: { x: {} } },
  });
  expect(readBy(({ list }) => list.find(({ x }) => x === 1))).toEqual({ list: { 0: { x: {} } } });
});

test("records everything in what is copied", () => {
  expect(readBy(({ a }) => ({ ...a }))).toEqual({ a: { b: {} } });
});
