import type { DomainState, DomainStatus } from "./domain-status.ts";

/** What the predicates go by: a {@link DomainStatus}, or what else has a state. */
interface WithState {
  readonly state: DomainStatus["state"] | (string & {});
}

const off: readonly string[] = ["Shutoff", "Crashed"] satisfies DomainState[];
const ended: readonly string[] = ["Absent", ...off] satisfies string[];

/** Whether libvirt knows the domain and says that it does not run: it has ended, or was not started yet. */
export function isOff({ state }: WithState): boolean {
  return off.includes(state);
}

/** Whether it is certain that no guest runs: the domain is off, or there is none. `NoState` is not certain. */
export function hasEnded({ state }: WithState): boolean {
  return ended.includes(state);
}

/** Whether there is a QEMU process, vCPUs running or not. A state that nobody knows is not a sign of life either. */
export function isAlive({ state }: WithState): boolean {
  return !ended.includes(state) && state !== "NoState";
}

/** Why a guest that is shut off is so because it has run; one that never ran has the reason `Unknown`. */
const endReasons = ["Shutdown", "Destroyed", "Crashed", "Failed", "Migrated", "Saved", "Panicked"];

/** Whether a guest lives, or is off for a reason that only one has that has run. */
export function hasLived(status: Pick<DomainStatus, "state" | "reason">): boolean {
  return isAlive(status) || (status.state === "Shutoff" && endReasons.includes(status.reason));
}
