import type { FoundDomain } from "./guest-domain.ts";
import { isActive } from "./guest-domain.ts";

/** What a sync does with a guest. */
export type NextStep =
  /** Prepare, define and start it: it is not there, or was defined and never ran. */
  | "start"
  /** It runs, or is paused: change what is to be changed. */
  | "converge"
  /** It has ended, or is about to. It is never started again. */
  | "leave";

/** Reasons with which libvirt says that a guest that is shut off has not run since it was defined. */
const neverRan = ["unknown", "failed"];

/**
 * Decides by what libvirt says now. `ran` is the record with the domain: after a restart of libvirtd the
 * reason is `unknown`, whatever it was.
 */
export function nextStep(found: FoundDomain | undefined, ran: boolean): NextStep {
  if (!found) return "start";
  const { state, reason } = found;
  if (state === "shutoff") return !ran && neverRan.includes(reason) ? "start" : "leave";
  if (state === "shutdown" || !isActive(found)) return "leave";
  return "converge";
}
