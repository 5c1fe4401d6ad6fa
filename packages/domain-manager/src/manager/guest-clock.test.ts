import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { DomainManagerError } from "../domain-manager-error.ts";
import { LibvirtError } from "../libvirt/libvirt-error.ts";
import { GuestClock } from "./guest-clock.ts";

/** An agent that fails this often before it complies. */
function agent(failures: number, error: Error = new Error("silent")) {
  const times: number[] = [];
  return {
    times,
    setTime: async (now = 0) => {
      times.push(now);
      if (times.length <= failures) throw error;
    },
  };
}

test("sets the clock as soon as the agent answers", async () => {
  const clock = new ManualClock();
  const guest = agent(3);
  new GuestClock(clock, () => 1000 + clock.now()).set(guest);
  await clock.pass(60_000);
  expect(guest.times).toEqual([1000, 2000, 3000, 4000]);
});

test("gives up after a minute, or when a newer attempt begins", async () => {
  const clock = new ManualClock();
  const guestClock = new GuestClock(clock);
  const [first, second] = [agent(1000), agent(1000)];
  guestClock.set(first);
  await clock.pass(1_500);
  guestClock.set(second);
  await clock.pass(120_000);
  expect([first.times.length, second.times.length, clock.pending]).toEqual([2, 60, 0]);
});

test("does not ask again if the guest cannot do it", async () => {
  const clock = new ManualClock();
  const remote = { code: 3, domain: 10, level: 2, message: "not configured" };
  const cause = LibvirtError.fromRemote("domainSetTime", { ...remote, code: 74 });
  const guest = agent(1000, new DomainManagerError("DOMAIN_AGENT", "no", { cause }));
  new GuestClock(clock).set(guest);
  await clock.pass(60_000);
  expect(cause.remote?.codeName).toBe("argumentUnsupported");
  expect(guest.times).toHaveLength(1);
});
