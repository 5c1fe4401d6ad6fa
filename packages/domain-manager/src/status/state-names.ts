import { stateReason } from "../libvirt/protocol/enums.ts";
import type { DomainState } from "./domain-status.ts";

const states: Readonly<Record<string, DomainState>> = {
  noState: "NoState",
  running: "Running",
  blocked: "Blocked",
  paused: "Paused",
  shutdown: "ShuttingDown",
  shutoff: "Shutoff",
  crashed: "Crashed",
  pmSuspended: "PMSuspended",
};

/** Reasons whose name is not libvirt's with a capital, or for which KubeVirt has no name. */
const reasons: Readonly<Record<string, string>> = {
  ioError: "IOError",
  apiError: "Unknown",
  daemon: "Unknown",
};

/** The reason if there is no domain. */
export const nonExistent = "NonExistent";

/** KubeVirt's name for a state of libvirt; `NoState` for one that is newer than this client. */
export function domainState(state: string | number): DomainState {
  return (Object.hasOwn(states, state) ? states[state] : undefined) ?? "NoState";
}

/**
 * Why a domain is in its state, in KubeVirt's terms: libvirt's reason if it is paused, has ended or
 * is about to end, otherwise `Unknown`.
 */
export function domainReason(state: string | number, reason: number): string {
  if (!["paused", "shutdown", "shutoff", "crashed"].includes(String(state))) return "Unknown";
  const name = stateReason(state, reason);
  return Object.hasOwn(reasons, name)
    ? (reasons[name] ?? "Unknown")
    : name.charAt(0).toUpperCase() + name.slice(1);
}
