import { expect, test } from "vitest";
import { explore } from "./explore.ts";
import type { Model } from "./model.ts";
import { replay, traceText } from "./trace.ts";

type At = "outside" | "looked" | "inside";
interface Lock {
  readonly taken: boolean;
  readonly at: readonly [At, At];
}

/** Two who share a lock. The planted race: one looks whether it is free, and takes it in a later step. */
function lock({ atomic }: { readonly atomic: boolean }): Model<Lock> {
  const put = (state: Lock, who: number, to: At, taken: boolean): Lock => {
    const at = [...state.at] as [At, At];
    at[who] = to;
    return { taken, at };
  };
  return {
    initial: [{ taken: false, at: ["outside", "outside"] }],
    next(state, emit) {
      for (const [who, at] of state.at.entries()) {
        if (at === "outside" && !state.taken) {
          if (atomic) emit(`${who} takes the lock`, put(state, who, "inside", true));
          else emit(`${who} sees that the lock is free`, put(state, who, "looked", false));
        }
        if (at === "looked") emit(`${who} takes the lock`, put(state, who, "inside", true));
        if (at === "inside") emit(`${who} leaves`, put(state, who, "outside", false));
      }
    },
    invariants: {
      "one inside": ({ at }) =>
        at.every((each) => each === "inside") ? "both are inside" : undefined,
    },
    canonical: ({ taken, at: [a, b] }) => ({ taken, at: a <= b ? [a, b] : [b, a] }),
  };
}

test("finds a race in a lock that is checked and then taken, by the shortest path", () => {
  const model = lock({ atomic: false });
  const { violation, exhausted } = explore(model);
  expect(exhausted).toBe(false);
  expect(violation).toMatchObject({ rule: "one inside", message: "both are inside" });
  expect(violation?.trace.steps).toHaveLength(4);
  expect(violation && replay(model, violation.trace).at).toEqual(["inside", "inside"]);
  expect(violation && traceText(model, violation.trace)).toContain("sees that the lock is free");
  expect(() => violation && replay(lock({ atomic: true }), violation.trace)).toThrow(
    "the model has no step",
  );
});

test("finds nothing in a lock taken in one step, after an exhaustive search", () => {
  const result = explore(lock({ atomic: true }));
  expect(result).toMatchObject({ exhausted: true, states: 2, depth: 1 });
  expect(result.violation).toBeUndefined();
  expect(result.steps.get("0 takes the lock")).toEqual({ kind: "fair", count: 1 });
});

interface Counter {
  readonly value: number;
  readonly read: readonly (number | null)[];
  readonly left: readonly number[];
}

/** Two who add one each: they read, then write, with or without "only if nothing has changed". */
function counter({ conditional }: { readonly conditional: boolean }): Model<Counter> {
  return {
    initial: [{ value: 0, read: [null, null], left: [1, 1] }],
    next(state, emit) {
      for (const [who, read] of state.read.entries()) {
        const reads = (value: number | null) => state.read.with(who, value);
        if (read === null) {
          if (state.left[who]) emit(`${who} reads`, { ...state, read: reads(state.value) });
        } else if (conditional && read !== state.value) {
          emit(`${who} is told to read anew`, { ...state, read: reads(null) });
        } else {
          const left = state.left.with(who, 0);
          emit(`${who} writes`, { value: read + 1, read: reads(null), left });
        }
      }
    },
    invariants: {
      "no lost update": ({ value, left }) =>
        left.every((each) => each === 0) && value !== 2 ? `the sum is ${value}` : undefined,
    },
    end: ({ left }) => (left.every((each) => each === 0) ? "both have added" : undefined),
  };
}

test("finds the lost update of two processes that read and then write", () => {
  const { violation } = explore(counter({ conditional: false }));
  expect(violation).toMatchObject({ rule: "no lost update", message: "the sum is 1" });
  expect(violation?.trace.steps.map(({ step }) => step.slice(2))).toEqual([
    "reads",
    "reads",
    "writes",
    "writes",
  ]);
});

test("finds no lost update with conditional writes, and both processes always end", () => {
  const result = explore(counter({ conditional: true }));
  expect(result.violation).toBeUndefined();
  expect(result.ends).toEqual(new Map([["both have added", 1]]));
});

test("finds the state from which no good end can be reached, and only by faults", () => {
  const stuck: Model<{ at: "work" | "done" | "hang" }> = {
    initial: [{ at: "work" }],
    next({ at }, emit) {
      if (at === "work") emit("finish", { at: "done" });
      if (at === "work") emit("crash", { at: "hang" }, "fault");
      if (at === "hang") emit("is mended by luck", { at: "done" }, "fault");
      if (at === "hang") emit("waits", { at: "hang" });
    },
    end: ({ at }) => (at === "done" ? "done" : undefined),
  };
  const { violation, exhausted } = explore(stuck);
  expect(exhausted).toBe(true);
  expect(violation?.rule).toBe("progress");
  expect(violation?.trace.steps.map(({ step }) => step)).toEqual(["crash"]);
});

test("says that the search was not exhaustive when it hits the bound", () => {
  const endless: Model<{ n: number }> = {
    initial: [{ n: 0 }],
    next: ({ n }, emit) => emit("count", { n: n + 1 }),
    end: () => undefined,
  };
  const result = explore(endless, { mostStates: 1000 });
  expect(result).toMatchObject({ exhausted: false, states: 1001 });
  expect(result.violation).toBeUndefined();
});

test("rejects a model without an initial state", () => {
  expect(() => explore({ initial: [], next: () => undefined })).toThrow("model.initial is empty");
});
