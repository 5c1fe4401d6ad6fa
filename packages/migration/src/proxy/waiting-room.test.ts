import { ManualClock } from "@virtkit/api/clock";
import { expect, it, vi } from "vitest";
import { defaultLimits } from "./proxy-limits.ts";
import { WaitingRoom } from "./waiting-room.ts";

const limits = { ...defaultLimits, waiting: 3, setup: 1_000 };

it("closes a connection when its time is over, unless it left before", async () => {
  const clock = new ManualClock();
  const room = new WaitingRoom(limits, clock);
  const [late, done] = [vi.fn(), vi.fn()];
  room.enter(late);
  const leave = room.enter(done);
  await clock.pass(900);
  leave();
  await clock.pass(200);
  expect(late).toHaveBeenCalledExactlyOnceWith("it took too long");
  expect(done).not.toHaveBeenCalled();
  expect([room.size, clock.pending]).toEqual([0, 0]);
});

it("closes all connections when it closes", () => {
  const clock = new ManualClock();
  const room = new WaitingRoom(limits, clock);
  const all = [vi.fn(), vi.fn()];
  for (const one of all) room.enter(one);
  room.close();
  for (const one of all) expect(one).toHaveBeenCalledOnce();
  expect([room.size, clock.pending]).toEqual([0, 0]);
});

/** A thousand who are silent, and then one who is done within a moment. */
async function attack(enter: (expel: () => void) => (() => void) | undefined): Promise<boolean> {
  for (let count = 0; count < 1_000; count++) enter(() => undefined);
  let isIn = true;
  const leave = enter(() => {
    isIn = false;
  });
  if (!leave) return false;
  leave();
  return isIn;
}

it("silent connections hold up nobody", async () => {
  const room = new WaitingRoom(limits, new ManualClock());
  await expect(attack((expel) => room.enter(expel))).resolves.toBe(true);
  expect(room.size).toBeLessThanOrEqual(limits.waiting);
});

it("control: a room that admits nobody when it is full is blocked by silent connections", async () => {
  const inside = new Set<object>();
  const naive = (): (() => void) | undefined => {
    const one = {};
    if (inside.size >= limits.waiting) return undefined;
    inside.add(one);
    return () => inside.delete(one);
  };
  await expect(attack(naive)).resolves.toBe(false);
});
