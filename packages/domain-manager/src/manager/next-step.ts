import type { FoundDomain } from "./guest-domain.ts";
import { isActive } from "./guest-domain.ts";

/** What a sync does with a guest. */
export type NextStep =
  /** Prepare, define and start it: it does not exist, or was defined and never ran. */
  | "start"
  /** It runs, or is paused: apply changes. */
  | "converge"
  /** It has ended, or is about to. It is never started again. */
  | "leave";

/** Reasons for which a domain that is shut off has not run since it was defined. */
const neverRan = ["unknown", "failed"];

/**
 * Decides from what libvirt reports now. `ran` is the record kept with the domain: after a restart
 * of libvirtd the reason is always `unknown`.
 */
export function nextStep(found: FoundDomain | undefined, ran: boolean): NextStep {
  if (!found) return "start";
  const { state, reason } = found;
  if (state === "shutoff") return !ran && neverRan.includes(reason) ? "start" : "leave";
  if (state === "shutdown" || !isActive(found)) return "leave";
  return "converge";
}
