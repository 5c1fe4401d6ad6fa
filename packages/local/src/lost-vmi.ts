import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { groupTraces, type PodTraces } from "./group-traces.ts";
import { type HostView, thisHost } from "./host-view.ts";
import { leftoverName } from "./leftovers.ts";
import { localInventory } from "./local-inventory.ts";
import { stopLocalSandbox } from "./local-sandbox.ts";
import type { UnreadableRecord } from "./record-file.ts";
import { removePodTraces } from "./remove-pod-traces.ts";
import { type StopOptions, stopVmi } from "./vmi-life.ts";
import { removeUnreadableRecord, type VmiRecord } from "./vmi-record.ts";

/**
 * A VMI whose record is gone or unreadable, as found by its claims, its Pod's owner and its traces.
 */
export interface LostVmi extends Pick<VmiRecord, "namespace" | "name"> {
  /** Absent if the record is gone. */
  readonly record?: UnreadableRecord;
  readonly pods: readonly PodTraces[];
  /** Running Pods that may belong to this VMI: its record could be that of any of them. */
  readonly doubtful: readonly PodTraces[];
}

/**
 * Finds a VMI without its record: by claim, by the note of its Pod's owner, by the Pod that a
 * garbled record still names, or by the UID of its Pod in place of the name. Undefined if there is
 * nothing of it.
 */
export async function findLostVmi(
  stateDirectory: string,
  { namespace, name }: Pick<VmiRecord, "namespace" | "name">,
  host: HostView = thisHost,
): Promise<LostVmi | undefined> {
  const inventory = await localInventory(stateDirectory, host);
  const groups = groupTraces(inventory);
  const isMeant = (found?: Pick<VmiRecord, "namespace" | "name">): boolean =>
    found?.namespace === namespace && found.name === name;
  const record = inventory.records?.unreadable.find(isMeant);
  const pods = groups.filter(({ podUid, vmi, owner }) => {
    if (podUid === undefined || owner.by === "record" || owner.by === "other-directory")
      return false;
    if (owner.by === "unreadable-record" && !isMeant(owner.record)) return false;
    return podUid === name || isMeant(vmi) || owner.by === "unreadable-record";
  });
  if (!record && pods.length === 0) return undefined;
  const isLoose = record !== undefined && record.podUid === undefined;
  const mayBe = ({ podUid, owner, running }: PodTraces): boolean =>
    podUid !== undefined && owner.by === "unknown" && owner.isHere && running !== "no";
  const doubtful = groups.filter((pod) => isLoose && mayBe(pod) && !pods.includes(pod));
  return { namespace, name, pods, doubtful, ...(record ? { record } : {}) };
}

/** Whether something of a VMI runs, or may. */
export function isLostVmiRunning({ pods }: LostVmi): boolean {
  return pods.some(({ running }) => running !== "no");
}

/**
 * Does {@link stopVmi} without a record. The guest gets the default grace period, because its own
 * is unknown.
 *
 * @throws NodeAgentError `AGENT_JOURNAL` if there is no way to ask the guest; a grace period of 0
 * kills it.
 */
export async function stopLostVmi(
  stateDirectory: string,
  lost: LostVmi,
  options: StopOptions = {},
): Promise<void> {
  for (const pod of lost.pods) {
    const { podUid, vmiUid, running } = pod;
    if (podUid === undefined) continue;
    if (running === "no" || options.gracePeriod === 0) {
      await stopLocalSandbox(stateDirectory, podUid);
      continue;
    }
    if (vmiUid === undefined) {
      const name = leftoverName({ ...pod, vmi: lost });
      const message = `nothing on disk says which VMI runs in the Pod ${podUid} of ${name}, so it cannot be asked to shut down; kill it with: virtkit stop --now ${name}`;
      throw new NodeAgentError("AGENT_JOURNAL", message, { path: podUid });
    }
    const { namespace, name } = lost;
    const vmi: VirtualMachineInstance = {
      metadata: { namespace, name, uid: vmiUid },
      spec: { domain: { devices: {} } },
    };
    await stopVmi(stateDirectory, { name, podUid, vmi }, options);
  }
}

/**
 * Removes everything of a VMI without a record, and then the unreadable file; kills what runs.
 * After a crash at any point it can be repeated.
 *
 * @throws NodeAgentError `AGENT_CLAIM_HELD` while a Pod runs that may belong to this VMI: without
 * the file nobody would look for its owner any more.
 */
export async function removeLostVmi(stateDirectory: string, lost: LostVmi): Promise<void> {
  const [first] = lost.doubtful;
  if (first) {
    const uids = lost.doubtful.map(({ podUid }) => podUid).join(", ");
    const message = `${lost.record?.file} cannot be read, and the running Pod ${uids} may belong to it; end that one first: virtkit stop ${first.podUid}`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: lost.name });
  }
  for (const pod of lost.pods) await removePodTraces(stateDirectory, pod);
  if (lost.record) await removeUnreadableRecord(stateDirectory, lost.record.file);
}
