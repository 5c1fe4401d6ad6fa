import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@virtkit/api/clock";
import { silentLog } from "@virtkit/api/observe";
import type { DomainStatus, GuestEvent } from "@virtkit/domain-manager";
import { type LauncherClient, LauncherError } from "@virtkit/launcher/client";
import { expect, onTestFinished, test } from "vitest";
import { readTrace, Trace } from "../trace/trace.ts";
import { followGuest, noteEvent } from "./follow-guest.ts";

const running: DomainStatus = {
  name: "default_demo",
  state: "Running",
  reason: "Unknown",
  agent: "connected",
  interfaces: [],
  disks: [],
};

type Happened = Omit<Extract<GuestEvent, { kind: "status" }>, "at"> | StageHappened;
type StageHappened = Omit<Extract<GuestEvent, { kind: "stage" }>, "at">;

function told(change: Partial<DomainStatus>): Happened {
  return { kind: "status", status: { ...running, ...change } };
}

const uid = "0d4c4a52-0001-4000-8000-000000000001";

function stateDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-follow-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function stagesAfter(hasReadinessProbe: boolean, ...events: readonly Happened[]): string[] {
  const directory = stateDirectory();
  const trace = new Trace(directory, uid);
  const at = "2026-01-01T00:00:00Z";
  for (const event of events) noteEvent({ at, ...event }, { trace, hasReadinessProbe });
  return readTrace(directory, uid).map(({ stage }) => stage);
}

test("a guest without a readiness probe is ready once it runs, regardless of its agent", () => {
  const begun = ["domain-defined", "guest-running", "ready"];
  expect(stagesAfter(false, told({ agent: "disconnected" }))).toEqual(begun);
  expect(stagesAfter(false, told({}))).toEqual([...begun, "agent-connected"]);
  expect(stagesAfter(false, told({ state: "Paused" }))).toEqual(["agent-connected"]);
});

test("a guest with a readiness probe is ready once the probe succeeds, whatever its agent does", () => {
  const pending = told({ probes: { readiness: { state: "pending" } } });
  const passing = told({ agent: "disconnected", probes: { readiness: { state: "passing" } } });
  expect(stagesAfter(true, pending)).not.toContain("ready");
  expect(stagesAfter(true, pending, passing)).toContain("ready");
});

test("if the kubelet runs the probes, the node does not report readiness", () => {
  const ready = { kind: "stage", stage: "ready", state: "done" } as const;
  expect(stagesAfter(true, told({}), ready)).not.toContain("ready");
  expect(stagesAfter(false, ready)).toEqual(["ready"]);
});

/** A connection that tells of one event and is then lost. */
function lostClient(): LauncherClient {
  async function* events(): AsyncGenerator<GuestEvent> {
    yield { at: "2026-01-01T00:00:00Z", kind: "status", status: running };
    throw new LauncherError("LAUNCHER_CLOSED", "the launcher closed the connection");
  }
  return { events } as unknown as LauncherClient;
}

test("a lost connection is reopened after a moment, until the sandbox has ended, and each loss is reported", async () => {
  const clock = new ManualClock();
  const attempts: number[] = [];
  const told: unknown[] = [];
  const statuses: DomainStatus[] = [];
  const following = followGuest(lostClient(), {
    trace: new Trace(stateDirectory(), uid),
    hasReadinessProbe: false,
    clock,
    onStatus: (status) => statuses.push(status),
    reconnect: async () => (attempts.push(clock.now()) < 3 ? lostClient() : undefined),
    log: { ...silentLog, warn: (details: unknown) => told.push(details) },
    metrics: { count: (name) => told.push(name), observe: () => {} },
  });
  await clock.pass(10_000);
  await following;
  expect(attempts).toEqual([200, 400, 600]);
  expect(statuses).toHaveLength(3);
  const loss = { error: "LAUNCHER_CLOSED: the launcher closed the connection" };
  const once = [loss, "launcher_connections_lost"];
  expect(told).toEqual([...once, ...once, ...once]);
});

test("the signal ends the wait for the next connection, and none is made", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  let attempts = 0;
  const following = followGuest(lostClient(), {
    trace: new Trace(stateDirectory(), uid),
    hasReadinessProbe: false,
    clock,
    signal: stop.signal,
    reconnect: async () => {
      attempts++;
      return undefined;
    },
  });
  await clock.pass(100);
  stop.abort();
  await following;
  expect(attempts).toBe(0);
  expect(clock.pending).toBe(0);
});
