import { agentChecks } from "./agent-checks.ts";
import type { GuestCheck } from "./guest-check.ts";
import { powerChecks } from "./power-checks.ts";
import { runChecks } from "./run-checks.ts";

/** What every guest behind `GuestControl` must do, simulated or real. */
export const guestControlChecks: readonly GuestCheck[] = [
  ...runChecks,
  ...powerChecks,
  ...agentChecks,
];
