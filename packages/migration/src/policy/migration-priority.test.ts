import { expect, test } from "vitest";
import { migrationPriority, queuePriority, requeueDelaySeconds } from "./migration-priority.ts";

test.each([
  ["system-critical", 100, 1],
  ["user-triggered", 50, 3],
  ["system-maintenance", 20, 5],
  ["odd", 0, 5],
  [undefined, 0, 5],
])("a %s migration has priority %i and retries after %i s", (priority, place, delay) => {
  const spec = priority === undefined ? {} : { priority };
  expect(migrationPriority({ spec })).toBe(place);
  expect(requeueDelaySeconds(place)).toBe(delay);
});

test.each([
  [queuePriority.running, 1],
  [99, 3],
  [49, 5],
  [-1, 5],
])("priority %i waits %i s", (priority, delay) => {
  expect(requeueDelaySeconds(priority)).toBe(delay);
});
