import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DomainStatus } from "@virtkit/domain-manager";
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

function stagesAfter(...statuses: readonly DomainStatus[]): string[] {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-follow-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const uid = "0d4c4a52-0001-4000-8000-000000000001";
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
