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

test("a guest that starts runs and is ready, agent or not", () => {
  expect(stages(status("Shutoff"), status("Running"))).toEqual(["guest-running", "ready"]);
  expect(stages(status("Absent"), status("Running", "connected"))).toEqual([
    "guest-running",
    "ready",
    "agent-connected",
  ]);
});

test("one that starts paused runs when it is let go; one that was paused does not start again", () => {
  const starting = status("Paused", "disconnected", "StartingUp");
  expect(stages(status("Shutoff"), starting)).toEqual([]);
  expect(stages(starting, status("Running"))).toEqual(["guest-running", "ready"]);
  expect(stages(status("Paused", "disconnected", "User"), status("Running"))).toEqual([]);
});

test("the agent is told when it comes, not when it goes", () => {
  expect(stages(status("Running"), status("Running", "connected"))).toEqual(["agent-connected"]);
  expect(stages(status("Running", "connected"), status("Running"))).toEqual([]);
});
