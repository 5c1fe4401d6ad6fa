import { expect, test } from "vitest";
import { domainReason, domainState } from "./state-names.ts";

test.each([
  ["running", 1, "Running", "Unknown"],
  ["paused", 1, "Paused", "User"],
  ["paused", 5, "Paused", "IOError"],
  ["paused", 11, "Paused", "StartingUp"],
  ["paused", 13, "Paused", "PostcopyFailed"],
  ["paused", 14, "Paused", "Unknown"],
  ["shutdown", 1, "ShuttingDown", "User"],
  ["shutoff", 1, "Shutoff", "Shutdown"],
  ["shutoff", 4, "Shutoff", "Migrated"],
  ["shutoff", 8, "Shutoff", "Unknown"],
  ["crashed", 1, "Crashed", "Panicked"],
  ["pmSuspended", 0, "PMSuspended", "Unknown"],
  [77, 3, "NoState", "Unknown"],
])("libvirt's %s with %i is %s, %s", (state, reason, name, why) => {
  expect([domainState(state), domainReason(state, reason)]).toEqual([name, why]);
});
