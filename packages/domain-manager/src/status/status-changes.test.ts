import { expect, test } from "vitest";
import type { DomainStatus } from "./domain-status.ts";
import { changesOf } from "./status-changes.ts";

const status = (
  state: DomainStatus["state"],
  agent: DomainStatus["agent"] = "disconnected",
  reason = "Unknown",
): DomainStatus => ({ name: "n", state, reason, agent, interfaces: [], disks: [] });
const stages = (before: DomainStatus, after: DomainStatus): string[] =>
  changesOf(before, after).map(({ stage }) => stage);

test("a started guest runs and is ready, with or without an agent", () => {
  expect(stages(status("Shutoff"), status("Running"))).toEqual(["guest-running", "ready"]);
  expect(stages(status("Absent"), status("Running", "connected"))).toEqual([
    "guest-running",
    "ready",
    "agent-connected",
  ]);
});

test("a guest that starts paused runs when it is resumed; one that was paused later does not start again", () => {
  const starting = status("Paused", "disconnected", "StartingUp");
  expect(stages(status("Shutoff"), starting)).toEqual([]);
  expect(stages(starting, status("Running"))).toEqual(["guest-running", "ready"]);
  expect(stages(status("Paused", "disconnected", "User"), status("Running"))).toEqual([]);
});

test("reports the agent when it connects, not when it disconnects", () => {
  expect(stages(status("Running"), status("Running", "connected"))).toEqual(["agent-connected"]);
  expect(stages(status("Running", "connected"), status("Running"))).toEqual([]);
});
