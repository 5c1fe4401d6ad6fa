import { ManualClock } from "@virtkit/api/clock";
import { silentLog } from "@virtkit/api/observe";
import { expect, test } from "vitest";
import { FreezeGuard } from "./freeze-guard.ts";

/** A guest with file systems, and a record of what was done to them. */
function guest() {
  const calls: string[] = [];
  let status: "frozen" | "thawed" = "thawed";
  return {
    calls,
    fsFreezeStatus: async () => status,
    freeze: async () => {
      calls.push("freeze");
      status = "frozen";
      return 1;
    },
    thaw: async () => {
      calls.push("thaw");
      status = "thawed";
      return 1;
    },
  };
}

test("freezes and thaws a guest once, however often it is asked", async () => {
  const agent = guest();
  const guard = new FreezeGuard(new ManualClock(), async () => {});
  await guard.unfreeze(agent, {});
  await guard.freeze(agent, 0, {});
  await guard.freeze(agent, 0, {});
  await guard.unfreeze(agent, {});
  await guard.unfreeze(agent, {});
  expect(agent.calls).toEqual(["freeze", "thaw"]);
});

test("thaws an abandoned guest after its time, which starts again with each freeze", async () => {
  const clock = new ManualClock();
  const agent = guest();
  const guard: FreezeGuard = new FreezeGuard(clock, async () => await guard.unfreeze(agent, {}));
  await guard.freeze(agent, 10, {});
  await clock.pass(9_000);
  await guard.freeze(agent, 10, {});
  await clock.pass(9_000);
  expect(agent.calls).toEqual(["freeze"]);
  await clock.pass(1_000);
  expect(agent.calls).toEqual(["freeze", "thaw"]);
  expect(clock.pending).toBe(0);
});

test("thawing by hand, and 0 seconds, leave no timer", async () => {
  const clock = new ManualClock();
  const agent = guest();
  const guard = new FreezeGuard(clock, async () => {});
  await guard.freeze(agent, 10, {});
  await guard.unfreeze(agent, {});
  await guard.freeze(agent, 0, {});
  expect(clock.pending).toBe(0);
});

test("retries a failed thaw, but not forever", async () => {
  const clock = new ManualClock();
  let attempts = 0;
  const told: unknown[] = [];
  const thaw = async (): Promise<void> => {
    attempts++;
    throw new Error("silent");
  };
  const log = { ...silentLog, warn: (details: unknown) => told.push(details) };
  const guard = new FreezeGuard(clock, thaw, { log });
  await guard.freeze(guest(), 1, {});
  await clock.pass(600_000);
  expect([attempts, clock.pending]).toEqual([13, 0]);
  expect(told).toHaveLength(13);
  expect(told.at(-1)).toEqual({ error: "Error: silent", left: 0 });
});

test("thaws a guest after its time even if freezing got no answer", async () => {
  const clock = new ManualClock();
  const agent = guest();
  const mute = {
    ...agent,
    freeze: async () => {
      await agent.freeze();
      throw new Error("no answer");
    },
  };
  const guard: FreezeGuard = new FreezeGuard(clock, async () => await guard.unfreeze(agent, {}));
  await expect(guard.freeze(mute, 10, {})).rejects.toThrow("no answer");
  await clock.pass(10_000);
  expect(agent.calls).toEqual(["freeze", "thaw"]);
});
