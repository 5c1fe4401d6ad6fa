import type { DomainState, DomainStatus } from "./domain-status.ts";

/** The input of the predicates: a {@link DomainStatus}, or anything else with a state. */
interface WithState {
  readonly state: DomainStatus["state"] | (string & {});
}

const off: readonly string[] = ["Shutoff", "Crashed"] satisfies DomainState[];
const ended: readonly string[] = ["Absent", ...off] satisfies string[];

/** Whether libvirt knows the domain and says that it does not run: it has ended, or was not started yet. */
export function isOff({ state }: WithState): boolean {
  return off.includes(state);
}

/**
 * Whether it is certain that no guest runs: the domain is off, or does not exist. `NoState` is not
 * certain.
 */
export function hasEnded({ state }: WithState): boolean {
  return ended.includes(state);
}

/**
 * Whether there is a QEMU process, regardless of its vCPUs. An unknown state is not a sign of life
 * either.
 */
export function isAlive({ state }: WithState): boolean {
  return !ended.includes(state) && state !== "NoState";
}

/**
 * Reasons for which a guest that is shut off has run before; one that never ran has the reason
 * `Unknown`.
 */
const endReasons = ["Shutdown", "Destroyed", "Crashed", "Failed", "Migrated", "Saved", "Panicked"];

/** Whether a guest lives, or is off for a reason that only a guest that has run can have. */
export function hasLived(status: Pick<DomainStatus, "state" | "reason">): boolean {
  return isAlive(status) || (status.state === "Shutoff" && endReasons.includes(status.reason));
}
