import { isAlive } from "./local-sandbox.ts";
import { canonicalDirectory, listPodOwners, type PodOwner } from "./pod-owner.ts";
import { podsOf, type RecordList } from "./vmi-record.ts";

/**
 * Running Pods of a state directory without a record, according to their owners' notes. Leaves out
 * those that a garbled record stands for. For a list: empty if the notes cannot be read.
 */
export async function unrecordedPods(
  stateDirectory: string,
  { records, unreadable }: RecordList,
): Promise<readonly PodOwner[]> {
  const here = canonicalDirectory(stateDirectory);
  // Adds to a list that is correct without it.
  const owners = (await listPodOwners().catch(() => [])).flatMap(({ owner }) => owner ?? []);
  return owners.filter((owner) => {
    const { podUid, namespace, name } = owner;
    if (owner.stateDirectory !== here || !isAlive(stateDirectory, podUid)) return false;
    const isGarbled = unreadable.some(
      (each) => each.podUid === podUid || (each.namespace === namespace && each.name === name),
    );
    return !isGarbled && !records.some((record) => podsOf(record).includes(podUid));
  });
}
