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

const uid = "0d4c4a52-0001-4000-8000-000000000001";

function stateDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-follow-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function stagesAfter(...statuses: readonly DomainStatus[]): string[] {
  const directory = stateDirectory();
  const trace = new Trace(directory, uid);
  const at = "2026-01-01T00:00:00Z";
  for (const status of statuses) noteEvent(trace, { at, kind: "status", status });
  return readTrace(directory, uid).map(({ stage }) => stage);
}

test("a guest without a readiness probe is ready once its agent answers", () => {
  const begun = ["domain-defined", "guest-running"];
  expect(stagesAfter({ ...running, agent: "disconnected" })).toEqual(begun);
  expect(stagesAfter(running)).toEqual([...begun, "agent-connected", "ready"]);
});

test("one with a readiness probe is ready once that passes, whatever its agent does", () => {
  const pending = { ...running, probes: { readiness: { state: "pending" } } } as const;
  const passing = { ...running, probes: { readiness: { state: "passing" } } } as const;
  expect(stagesAfter(pending)).not.toContain("ready");
  expect(stagesAfter(pending, { ...passing, agent: "disconnected" })).toContain("ready");
});

/** A connection that tells of one event and is then lost. */
function lostClient(): LauncherClient {
  async function* events(): AsyncGenerator<GuestEvent> {
    yield { at: "2026-01-01T00:00:00Z", kind: "status", status: running };
    throw new LauncherError("LAUNCHER_CLOSED", "the launcher closed the connection");
  }
  return { events } as unknown as LauncherClient;
}

test("a lost connection is made again after a moment, until the sandbox has ended; each loss is told", async () => {
  const clock = new ManualClock();
  const attempts: number[] = [];
  const told: unknown[] = [];
  const statuses: DomainStatus[] = [];
  const following = followGuest(lostClient(), {
    trace: new Trace(stateDirectory(), uid),
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

test("the signal ends the wait for the next connection: none is made", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  let attempts = 0;
  const following = followGuest(lostClient(), {
    trace: new Trace(stateDirectory(), uid),
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
