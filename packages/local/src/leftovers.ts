import { NodeAgentError } from "@virtkit/node-agent/errors";
import { groupTraces, type PodTraces } from "./group-traces.ts";
import { type HostView, thisHost } from "./host-view.ts";
import { localInventory, type UnseenPlace } from "./local-inventory.ts";
import { removePodTraces } from "./remove-pod-traces.ts";

/** What lies on this host without a record. */
export interface Leftovers {
  /** Of this state directory, and nobody's: they can be taken back. */
  readonly ownerless: readonly PodTraces[];
  /** Another state directory's, or nobody can tell whose: they stay. */
  readonly kept: readonly PodTraces[];
  readonly unseen: readonly UnseenPlace[];
}

/** Finds what Pods of local mode have left. Changes nothing. */
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

/** How {@link removeLeftover} goes about it. */
export interface RemoveLeftoverOptions {
  /** Also where it runs. */
  readonly force?: boolean;
  readonly host?: HostView;
}

/**
 * Takes back one leftover. Looks again first: whoever has become its owner since, or has removed it, is
 * respected.
 *
 * @returns false where there is nothing of it any more.
 * @throws NodeAgentError `AGENT_CLAIM_HELD` where it runs and `force` is not given, or where it is not
 *   certain any more that nobody owns it.
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

/** What `virtkit stop` and `virtkit rm` know a leftover by: its VMI's name, or the UID of its Pod. */
export function leftoverName({ vmi, podUid, traces }: PodTraces): string {
  if (!vmi) return podUid ?? traces[0]?.place ?? "";
  const { namespace, name } = vmi;
  return namespace === "default" ? name : `${namespace}/${name}`;
}
