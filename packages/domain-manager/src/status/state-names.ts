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

/** Reasons whose name is not libvirt's with a capital, or that KubeVirt has none for. */
const reasons: Readonly<Record<string, string>> = {
  ioError: "IOError",
  apiError: "Unknown",
  daemon: "Unknown",
};

/** Why there is no domain: there is none. */
export const nonExistent = "NonExistent";

/** What a state of libvirt is called; `NoState` for one that is newer than this client. */
export function domainState(state: string | number): DomainState {
  return (Object.hasOwn(states, state) ? states[state] : undefined) ?? "NoState";
}

/**
 * Why a domain is in its state, as KubeVirt names it: by libvirt's reason for one that is paused or has
 * ended or is about to, `Unknown` for any other.
 */
export function domainReason(state: string | number, reason: number): string {
  if (!["paused", "shutdown", "shutoff", "crashed"].includes(String(state))) return "Unknown";
  const name = stateReason(state, reason);
  return Object.hasOwn(reasons, name)
    ? (reasons[name] ?? "Unknown")
    : name.charAt(0).toUpperCase() + name.slice(1);
}
