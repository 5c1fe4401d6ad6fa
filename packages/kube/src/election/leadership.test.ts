import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { Leadership } from "./leadership.ts";

function setUp() {
  const clock = new ManualClock();
  const now = () => ({ monotonic: clock.now(), wall: clock.now() });
  const leadership = new Leadership({
    lease: "default/x",
    clock,
    now,
    window: 10_000,
    since: now(),
  });
  return { clock, now, leadership };
}

test("leadership lasts for its window from the moment of sending, and no longer", async () => {
  const { clock, now, leadership } = setUp();
  await clock.pass(4_000);
  const sentAt = now();
  await clock.pass(5_000);
  leadership.renewed(sentAt);
  await clock.pass(4_999);
  expect([leadership.isHeld(), leadership.signal.aborted]).toEqual([true, false]);
  await clock.pass(1);
  expect([leadership.isHeld(), leadership.signal.aborted]).toEqual([false, true]);
  expect(clock.pending).toBe(0);
});

test("a renewal answered after the end, or an older one, changes nothing", async () => {
  const { clock, now, leadership } = setUp();
  const early = now();
  await clock.pass(5_000);
  const later = now();
  leadership.renewed(later);
  leadership.renewed(early);
  await clock.pass(9_999);
  expect(leadership.isHeld()).toBe(true);
  const last = now();
  await clock.pass(1);
  leadership.renewed(last);
  expect(leadership.isHeld()).toBe(false);
});

test("work that was asked to stop may act until the lease expires, and then learns that it has", async () => {
  const { clock, leadership } = setUp();
  leadership.askToStop(new Error("enough"));
  expect(leadership.signal.reason).toEqual(new Error("enough"));
  leadership.check();
  await clock.pass(10_000);
  expect(() => leadership.check()).toThrow(expect.objectContaining({ code: "KUBE_LEASE_LOST" }));
});
