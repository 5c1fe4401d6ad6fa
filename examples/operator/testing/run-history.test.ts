import { expect, test } from "vitest";
import { RunHistory } from "./run-history.ts";

const second = 1_000_000_000;

/** Samples, each with the seconds that each copy has run by then. */
function seen(...looks: readonly Readonly<Record<string, number>>[]): RunHistory {
  const history = new RunHistory();
  for (const look of looks) {
    history.look(new Map(Object.entries(look).map(([copy, time]) => [copy, time * second])));
  }
  return history;
}

test("a guest that passes from one copy to the next between two samples is one guest", () => {
  const { faults, runners } = seen(
    { source: 1 },
    { source: 1.1, target: 0 },
    { source: 1.2, target: 0.1 },
    { source: 1.2, target: 0.2 },
    { target: 0.3 },
  );
  expect({ faults, runners }).toEqual({ faults: [], runners: 2 });
});

test("a copy that is paused, or only wakes up, does not run", () => {
  const woken = { source: 1.202, target: 0.2 };
  expect(
    seen({ source: 1 }, { source: 1.2, target: 0 }, { source: 1.2, target: 0.1 }, woken).faults,
  ).toEqual([]);
  expect(seen({ source: 1 }, { source: 1 }, { source: 1.002 }).runners).toBe(0);
});

test("control: catches a source that continues while its copy runs", () => {
  const { faults } = seen(
    { source: 1, target: 0 },
    { source: 1.1, target: 0 },
    { source: 1.2, target: 0.1 },
    { source: 1.3, target: 0.2 },
  );
  expect(faults).toEqual(["source ran after target had run"]);
});

test("control: catches a source that is resumed later", () => {
  const { faults } = seen(
    { source: 1, target: 0 },
    { source: 1.1, target: 0 },
    { source: 1.1, target: 0.1 },
    { source: 1.1, target: 0.2 },
    { source: 1.2, target: 0.2 },
  );
  expect(faults).toEqual(["source ran after target had run"]);
});
