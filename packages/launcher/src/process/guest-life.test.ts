import { ManualClock } from "@virtkit/api/clock";
import { silentLog } from "@virtkit/api/observe";
import { type DomainStatus, MayRun } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { MemoryGuest } from "../testing/memory-guest.ts";
import { GuestLife, type GuestLifeOptions } from "./guest-life.ts";
import { LauncherGuest } from "./launcher-guest.ts";
import type { Ending } from "./termination-message.ts";

function lived(gracePeriodSeconds = 30, more: Partial<GuestLifeOptions> = {}) {
  const control = new MemoryGuest();
  const clock = new ManualClock();
  const guest = new LauncherGuest(control, { uid: "vmi-1", now: () => new Date(0) });
  const life = new GuestLife(guest, {
    ...{ gracePeriodSeconds, log: silentLog, clock, now: () => new Date(0) },
    ...more,
  });
  const outcome: { ending?: Ending } = {};
  void life.ended.then((ending) => {
    outcome.ending = ending;
  });
  const asked = (verb: string): number => control.calls.filter((call) => call.verb === verb).length;
  return { control, clock, guest, life, outcome, asked };
}

test("a guest that ends by itself has ended; one that never ran has not", async () => {
  const { control, clock, outcome } = lived();
  await clock.pass(0);
  control.become({ state: "Shutoff", reason: "Unknown" });
  await clock.pass(60_000);
  expect(outcome.ending).toBeUndefined();
  control.become({ state: "Running" });
  await clock.pass(0);
  control.become({ state: "Crashed", reason: "Panicked" });
  await clock.pass(0);
  expect(outcome.ending).toMatchObject({ how: "guest-ended", status: { state: "Crashed" } });
});

test("sees the end of a guest even without an event", async () => {
  const { control, clock, outcome } = lived();
  control.become({ state: "Running" });
  await clock.pass(0);
  control.tell = () => {};
  control.become({ state: "Shutoff", reason: "Shutdown" });
  await clock.pass(5_000);
  expect(outcome.ending).toMatchObject({ how: "guest-ended" });
});

test("does not trust an event alone: the launcher's end would be the guest's", async () => {
  const { control, clock, outcome } = lived();
  control.become({ state: "Running" });
  await clock.pass(0);
  const status = { ...(await control.status()), state: "Shutoff", reason: "Shutdown" } as const;
  control.tell({ at: "t", kind: "status", status });
  await clock.pass(10_000);
  expect(outcome.ending).toBeUndefined();
});

test("a later launcher sees that its guest has ended", async () => {
  const { control, clock, outcome } = lived();
  control.become({ state: "Shutoff", reason: "Destroyed" });
  await clock.pass(5_000);
  expect(outcome.ending).toMatchObject({ how: "guest-ended" });
});

test("a deleted guest has ended", async () => {
  const { guest, clock, outcome } = lived();
  await guest.delete();
  await clock.pass(0);
  expect(outcome.ending).toMatchObject({ how: "guest-ended" });
});

test("without a guest there is nothing to wait for", async () => {
  const { life, clock, outcome, asked } = lived();
  void life.shutDown();
  await clock.pass(0);
  expect(outcome.ending).toMatchObject({ how: "never-ran" });
  expect(asked("shutdown")).toBe(0);
});

test("asks a guest that complies once", async () => {
  const { control, life, clock, outcome, asked } = lived();
  control.become({ state: "Running" });
  await clock.pass(0);
  void life.shutDown();
  void life.shutDown();
  await clock.pass(0);
  expect(outcome.ending).toMatchObject({ how: "shut-down", status: { reason: "Shutdown" } });
  expect([asked("shutdown"), asked("kill")]).toEqual([1, 0]);
});

test("asks a guest that does not comply every 5 s, and kills it when its time is up", async () => {
  const { control, life, clock, outcome, asked } = lived(12);
  control.obeys = false;
  control.become({ state: "Running" });
  void life.shutDown();
  await clock.pass(11_999);
  expect([asked("shutdown"), asked("kill")]).toEqual([3, 0]);
  await clock.pass(1);
  expect(asked("kill")).toBe(1);
  expect(outcome.ending).toMatchObject({ how: "killed-after-grace" });
  const calls = control.calls.length;
  await clock.pass(60_000);
  expect(control.calls).toHaveLength(calls);
});

test("does not forget a paused guest, and kills one later that cannot be killed yet", async () => {
  const { control, life, clock, outcome, asked } = lived(1);
  control.obeys = false;
  control.become({ state: "Paused", reason: "User" });
  let failures = 3;
  control.before = async (verb) => {
    if (verb === "shutdown" || (verb === "kill" && failures-- > 0))
      throw new Error("libvirtd is away");
  };
  void life.shutDown();
  await clock.pass(1_000);
  expect(outcome.ending).toBeUndefined();
  await clock.pass(3_000);
  expect(asked("kill")).toBe(4);
  expect(outcome.ending).toMatchObject({ how: "killed-after-grace" });
});

test("does not abandon a guest with unknown state while libvirtd is away", async () => {
  const { control, life, clock, outcome, asked } = lived(10);
  control.become({ state: "Running" });
  control.obeys = false;
  let away = true;
  control.before = async () => {
    if (away) throw new Error("libvirtd is away");
  };
  void life.shutDown();
  await clock.pass(9_000);
  expect(outcome.ending).toBeUndefined();
  away = false;
  control.obeys = true;
  await clock.pass(2_000);
  expect(asked("kill")).toBeLessThanOrEqual(1);
  expect(outcome.ending).toBeDefined();
});

test("waits for a guest that is just starting, and then shuts it down", async () => {
  const { control, guest, life, clock, outcome } = lived();
  let started = (): void => {};
  control.before = async (verb) => {
    if (verb === "syncVmi")
      await new Promise<void>((resolve) => {
        started = resolve;
      });
  };
  const mayRun = MayRun.fromAgent({ vmiUid: "vmi-1", podUid: "p", epoch: 1 });
  const vmi = { metadata: { uid: "vmi-1" } } as never;
  const sync = guest.syncVmi({ vmi, context: { architecture: "amd64" }, mayRun });
  await clock.pass(0);
  void life.shutDown();
  await clock.pass(3_000);
  expect(outcome.ending).toBeUndefined();
  started();
  await sync;
  await clock.pass(1_000);
  expect(outcome.ending).toMatchObject({ how: "shut-down" });
  await expect(guest.syncVmi({ vmi, context: { architecture: "amd64" }, mayRun })).rejects.toThrow(
    /shutting down/,
  );
});

test("all subscribers learn that the launcher was asked to end, and the last status", async () => {
  const { control, guest, life, clock } = lived();
  control.become({ state: "Running" });
  const seen: DomainStatus[] = [];
  void (async () => {
    for await (const event of guest.events()) if (event.kind === "status") seen.push(event.status);
  })();
  await clock.pass(0);
  control.obeys = false;
  void life.shutDown();
  await clock.pass(0);
  expect(seen.at(-1)).toMatchObject({
    state: "Running",
    shutdownRequestedAt: "1970-01-01T00:00:00.000Z",
  });
  control.tell = () => {};
  control.become({ state: "Shutoff", reason: "Shutdown" });
  await clock.pass(5_000);
  expect(seen.at(-1)).toMatchObject({ state: "Shutoff", reason: "Shutdown" });
});

test("subscribes to events again after a failure", async () => {
  const { control, clock, outcome } = lived();
  const events = control.events.bind(control);
  let failures = 1;
  control.events = (options) => {
    if (failures-- > 0) throw new Error("libvirtd is away");
    return events(options);
  };
  await clock.pass(2_000);
  control.become({ state: "Running" });
  await clock.pass(0);
  control.become({ state: "Shutoff", reason: "Shutdown" });
  await clock.pass(0);
  expect(outcome.ending).toMatchObject({ how: "guest-ended" });
});

test("forgets that there was no guest once libvirtd does not answer", async () => {
  const { control, life, clock, outcome } = lived(10);
  await clock.pass(5_000);
  control.become({ state: "Running" });
  control.before = async () => {
    throw new Error("libvirtd is away");
  };
  void life.shutDown();
  await clock.pass(9_000);
  expect(outcome.ending).toBeUndefined();
});

test.each([
  ["killed", "SIGKILL", { kind: "Killed", message: /QEMU was killed with SIGKILL/ }],
  ["at fault", "SIGSEGV", { kind: "Crashed", message: /QEMU crashed \(SIGSEGV\)/ }],
])("recognizes a guest whose QEMU was %s, in its status as well", async (_, signal, end) => {
  const { control, clock, guest, outcome } = lived(30, { qemuSignal: () => signal });
  control.become({ state: "Running" });
  await clock.pass(0);
  control.become({ state: "Shutoff", reason: "Crashed" });
  await clock.pass(0);
  const { kind, message } = end;
  const expected = {
    kind,
    message: expect.stringMatching(message),
    at: "1970-01-01T00:00:00.000Z",
  };
  expect(outcome.ending?.end).toEqual(expected);
  expect((await guest.status()).end).toEqual(expected);
});

test("reports a panic even if its end is seen only after the domain is gone", async () => {
  const { control, clock, guest, outcome } = lived();
  control.become({ state: "Running" });
  await clock.pass(0);
  control.tell({ at: "t", kind: "incident", reason: "GuestPanicked", message: "it panicked" });
  await clock.pass(0);
  control.become({ state: "Absent", reason: "NonExistent" });
  await guest.delete();
  await clock.pass(0);
  expect(outcome.ending?.end).toMatchObject({ kind: "Crashed", message: "it panicked" });
});

test("a guest that was asked over the channel has stopped; one that powered off has not", async () => {
  for (const verb of ["shutdown", undefined] as const) {
    const { control, clock, guest, outcome } = lived();
    control.become({ state: "Running" });
    await clock.pass(0);
    if (verb) await guest[verb]();
    else control.become({ state: "Shutoff", reason: "Shutdown" });
    await clock.pass(0);
    expect(outcome.ending?.end?.kind).toBe(verb ? "Stopped" : "PoweredOff");
  }
});

test("a launcher without a guest ends when its time is up, and not before", async () => {
  const { clock, control, outcome } = lived(30, { startTimeoutSeconds: 60 });
  await clock.pass(55_000);
  expect(outcome.ending).toBeUndefined();
  await clock.pass(10_000);
  expect(outcome.ending).toEqual({ how: "never-ran", status: expect.anything() });
  expect(control.calls.map(({ verb }) => verb)).not.toContain("kill");
});

test("time does not count while a guest starts or runs; it starts again after a failure", async () => {
  const { clock, control, guest, outcome } = lived(30, { startTimeoutSeconds: 60 });
  await clock.pass(50_000);
  let fail = (_: Error): void => {};
  control.before = async (verb) => {
    if (verb === "syncVmi") await new Promise((_, reject) => (fail = reject));
  };
  const vmi = { metadata: { uid: "vmi-1" } } as never;
  const mayRun = MayRun.fromAgent({ vmiUid: "vmi-1", podUid: "pod-1", epoch: 1 });
  const failed = guest.syncVmi({ vmi, context: {} as never, mayRun }).catch(() => "failed");
  await clock.pass(120_000);
  expect(outcome.ending).toBeUndefined();
  fail(new Error("no space left"));
  expect(await failed).toBe("failed");
  await clock.pass(50_000);
  expect(outcome.ending).toBeUndefined();
  control.become({ state: "Running" });
  await clock.pass(600_000);
  expect(outcome.ending).toBeUndefined();
});

test("a launcher that cannot check for a guest does not end because of that", async () => {
  const { clock, control, outcome } = lived(30, { startTimeoutSeconds: 60 });
  control.before = async (verb) => {
    if (verb === "status") throw new Error("libvirtd is gone");
  };
  await clock.pass(600_000);
  expect(outcome.ending).toBeUndefined();
});
