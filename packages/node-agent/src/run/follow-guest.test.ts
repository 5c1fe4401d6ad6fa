import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DomainStatus, GuestEvent } from "@virtkit/domain-manager";
import { expect, onTestFinished, test } from "vitest";
import { readTrace, Trace } from "../trace/trace.ts";
import { noteEvent } from "./follow-guest.ts";

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

function stagesAfter(hasReadinessProbe: boolean, ...events: readonly Happened[]): string[] {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-follow-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const uid = "0d4c4a52-0001-4000-8000-000000000001";
  const trace = new Trace(directory, uid);
  const at = "2026-01-01T00:00:00Z";
  for (const event of events) noteEvent({ at, ...event }, { trace, hasReadinessProbe });
  return readTrace(directory, uid).map(({ stage }) => stage);
}

test("a guest without a readiness probe is ready once it runs; its agent is another matter", () => {
  const begun = ["domain-defined", "guest-running", "ready"];
  expect(stagesAfter(false, told({ agent: "disconnected" }))).toEqual(begun);
  expect(stagesAfter(false, told({}))).toEqual([...begun, "agent-connected"]);
  expect(stagesAfter(false, told({ state: "Paused" }))).toEqual(["agent-connected"]);
});

test("one with a readiness probe is ready once that passes, whatever its agent does", () => {
  const pending = told({ probes: { readiness: { state: "pending" } } });
  const passing = told({ agent: "disconnected", probes: { readiness: { state: "passing" } } });
  expect(stagesAfter(true, pending)).not.toContain("ready");
  expect(stagesAfter(true, pending, passing)).toContain("ready");
});

test("where the kubelet makes the checks, the node does not say that a guest is ready", () => {
  const ready = { kind: "stage", stage: "ready", state: "done" } as const;
  expect(stagesAfter(true, told({}), ready)).not.toContain("ready");
  expect(stagesAfter(false, ready)).toEqual(["ready"]);
});
