import type { Holder, ProofOfEnd, ReadGrant } from "@virtkit/api/grant";
import { launcherContainers, proofsFromNode, proofsFromPod } from "@virtkit/api/proofs";
import { at, text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";

/** Everything that is known about ends; the rules find out what it proves. */
export function evidenceOf({ pods, nodes }: GrantView): readonly ProofOfEnd[] {
  return [...pods.flatMap(proofsFromPod), ...nodes.flatMap(proofsFromNode)];
}

/**
 * The incarnations of a Pod's launcher: those that the grant names, and those that the kubelet has
 * reported. A Pod without a report may have one that nobody knows about; only a Pod that was never
 * scheduled has none.
 */
export function incarnationsOf(
  pod: PodObject,
  grant: ReadGrant | undefined,
  { nodes }: GrantView,
): readonly Holder[] {
  const named = namedBy(grant).filter(({ podUID }) => podUID === text(pod.metadata?.uid));
  const known = new Set(named.map(({ containerID }) => containerID));
  const reported = launcherContainers(pod).filter((id) => !known.has(id));
  if (named.length + reported.length > 0) {
    return [...named, ...reported.map((id) => unclaimed(pod, id, nodes))];
  }
  return text(pod.spec?.nodeName) === "" ? [] : [unclaimed(pod, "", nodes)];
}

/** The incarnations that a grant names. */
export function namedBy(grant: ReadGrant | undefined): readonly Holder[] {
  if (!grant || !("holder" in grant)) return [];
  return "target" in grant ? [grant.holder, grant.target] : [grant.holder];
}

/** Whether a grant names a Pod: the guest may run in it, leave it, or arrive there. */
export function namesPod(grant: ReadGrant, { metadata }: PodObject): boolean {
  if (grant.state === "Granted") return grant.podUID === metadata?.uid;
  return namedBy(grant).some(({ podUID }) => podUID === metadata?.uid);
}

/**
 * An incarnation that has claimed nothing has no nonce, and counts as one of the node's present
 * boot.
 */
function unclaimed(
  { metadata, spec }: PodObject,
  containerID: string,
  nodes: readonly unknown[],
): Holder {
  const name = text(spec?.nodeName);
  const node = nodes.find((each) => at(each, "metadata", "name") === name);
  return {
    podUID: text(metadata?.uid),
    containerID,
    node: name,
    machineID: text(at(node, "status", "nodeInfo", "machineID")),
    bootID: text(at(node, "status", "nodeInfo", "bootID")),
    nonce: "",
  };
}
