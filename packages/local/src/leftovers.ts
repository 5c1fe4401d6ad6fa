import { NodeAgentError } from "@virtkit/node-agent/errors";
import { groupTraces, type PodTraces } from "./group-traces.ts";
import { type HostView, thisHost } from "./host-view.ts";
import { localInventory, type UnseenPlace } from "./local-inventory.ts";
import { removePodTraces } from "./remove-pod-traces.ts";

/** What exists on this host without a record. */
export interface Leftovers {
  /** Of this state directory, without an owner: they can be removed. */
  readonly ownerless: readonly PodTraces[];
  /** Of another state directory, or with an unknown owner: they stay. */
  readonly kept: readonly PodTraces[];
  readonly unseen: readonly UnseenPlace[];
}

/** Finds what Pods of local mode have left behind. Changes nothing. */
export async function findLeftovers(
  stateDirectory: string,
  host: HostView = thisHost,
): Promise<Leftovers> {
  const inventory = await localInventory(stateDirectory, host);
  const groups = groupTraces(inventory);
  return {
    ownerless: groups.filter(({ owner }) => owner.by === "nobody"),
    kept: groups.filter(({ owner }) => owner.by === "other-directory" || owner.by === "unknown"),
    unseen: inventory.unseen,
  };
}

/** Options of {@link removeLeftover}. */
export interface RemoveLeftoverOptions {
  /** Even if it runs. */
  readonly force?: boolean;
  readonly host?: HostView;
}

/**
 * Removes one leftover. Checks again first, in case it has got an owner or was removed since.
 *
 * @returns false if nothing of it is left.
 * @throws NodeAgentError `AGENT_CLAIM_HELD` if it runs and `force` is not given, or if it is no
 * longer certain that nobody owns it.
 */
export async function removeLeftover(
  stateDirectory: string,
  leftover: PodTraces,
  { force = false, host = thisHost }: RemoveLeftoverOptions = {},
): Promise<boolean> {
  const groups = groupTraces(await localInventory(stateDirectory, host));
  const now = groups.find((group) => isSame(group, leftover));
  if (!now) return false;
  const name = leftoverName(now);
  if (now.owner.by !== "nobody") {
    const message = `${name} has an owner now; check again: virtkit doctor`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: name });
  }
  if (now.running !== "no" && !force) {
    const message = `${name} is running; to end it, run: virtkit stop ${name}, or: virtkit doctor --clean --force`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: name });
  }
  await removePodTraces(stateDirectory, now);
  return true;
}

function isSame(a: PodTraces, b: PodTraces): boolean {
  if (a.podUid !== undefined || b.podUid !== undefined) return a.podUid === b.podUid;
  return a.traces[0]?.place === b.traces[0]?.place;
}

/**
 * How `virtkit stop` and `virtkit rm` identify a leftover: by its VMI's name, or the UID of its
 * Pod.
 */
export function leftoverName({ vmi, podUid, traces }: PodTraces): string {
  if (!vmi) return podUid ?? traces[0]?.place ?? "";
  const { namespace, name } = vmi;
  return namespace === "default" ? name : `${namespace}/${name}`;
}
