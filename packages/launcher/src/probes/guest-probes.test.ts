import { ManualClock } from "@virtkit/api/clock";
import { silentLog as log } from "@virtkit/api/observe";
import { MayRun, type SyncRequest } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { GuestLife } from "../process/guest-life.ts";
import { LauncherGuest } from "../process/launcher-guest.ts";
import { MemoryGuest } from "../testing/memory-guest.ts";
import { GuestProbes } from "./guest-probes.ts";

const agentPing = { guestAgentPing: {}, periodSeconds: 10, failureThreshold: 2 };
const mayRun = MayRun.fromAgent({ vmiUid: "vmi-1", podUid: "pod-1", epoch: 1 });

async function started(spec: Partial<SyncRequest["vmi"]["spec"]>) {
  const control = new MemoryGuest();
  const clock = new ManualClock();
  const probes = new GuestProbes({ clock, log });
  const guest = new LauncherGuest(control, { uid: "vmi-1", probes });
  const life = new GuestLife(guest, { gracePeriodSeconds: 5, log, clock });
  void probes.failed.then((message) => life.endLifeless(message));
  let silence: Error | undefined;
  control.before = async (verb) => {
    if (verb === "guestPing" && silence) throw silence;
  };
  const vmi = { metadata: { uid: "vmi-1" }, spec: { domain: { devices: {} }, ...spec } };
  await guest.syncVmi({ vmi, context: {}, mayRun } as unknown as SyncRequest);
  await clock.pass(0);
  const fallSilent = (): void => {
    silence = new Error("the agent is silent");
  };
  const answer = (): void => {
    silence = undefined;
  };
  return { control, clock, guest, life, fallSilent, answer };
}

test("a guest is ready when its readiness probe says so, and no sooner", async () => {
  const { guest, clock, control, fallSilent } = await started({
    readinessProbe: { ...agentPing, initialDelaySeconds: 30 },
  });
  const stages: string[] = [];
  const stop = new AbortController();
  void (async () => {
    for await (const event of guest.events(stop)) {
      if (event.kind === "stage") stages.push(event.stage);
    }
  })();
  await clock.pass(0);
  control.tell({ at: "t", kind: "stage", stage: "ready", state: "done" });
  expect((await guest.status()).probes).toEqual({ readiness: { state: "pending" } });
  await clock.pass(30_000);
  expect((await guest.status()).probes).toEqual({ readiness: { state: "passing" } });
  fallSilent();
  await clock.pass(20_000);
  const readiness = { state: "failing", message: "the agent is silent" };
  expect((await guest.status()).probes).toEqual({ readiness });
  expect((await guest.status()).state).toBe("Running");
  expect(stages).toEqual([]);
  stop.abort();
});

test("ends a guest whose liveness probe fails, and reports that as the reason", async () => {
  const { life, clock, control, fallSilent, answer } = await started({ livenessProbe: agentPing });
  control.obeys = false;
  fallSilent();
  await clock.pass(10_000);
  answer();
  await clock.pass(10_000);
  expect(control.calls.some(({ verb }) => verb === "shutdown")).toBe(false);
  fallSilent();
  await clock.pass(30_000);
  expect(control.calls.some(({ verb }) => verb === "shutdown")).toBe(true);
  expect(control.calls.some(({ verb }) => verb === "kill")).toBe(true);
  expect(await life.ended).toMatchObject({
    how: "liveness-failed",
    error: "the agent is silent",
    status: { probes: { liveness: { state: "failing" } } },
  });
});

test("does not blame the liveness probe if the guest was asked to end", async () => {
  const { life, clock, control, fallSilent } = await started({ livenessProbe: agentPing });
  control.obeys = false;
  fallSilent();
  void life.shutDown();
  await clock.pass(60_000);
  expect(await life.ended).toMatchObject({ how: "killed-after-grace" });
});

test("reports nothing about probes if there are none", async () => {
  const { guest } = await started({});
  expect(await guest.status()).not.toHaveProperty("probes");
});
