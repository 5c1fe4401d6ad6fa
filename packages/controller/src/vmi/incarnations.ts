import type { Holder, ProofOfEnd, ReadGrant } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { launcherContainers, proofsFromNode, proofsFromPod } from "@virtkit/api/proofs";
import { at, text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";

/** All that is known of ends; the rules find out what it proves. */
export function evidenceOf({ pods, nodes }: GrantView, names: Names): readonly ProofOfEnd[] {
  return [...pods.flatMap(proofsFromPod), ...nodes.flatMap((node) => proofsFromNode(node, names))];
}

/**
 * The lives of a Pod's launcher: those that the grant names, and those that the kubelet has reported. A
 * Pod of which nothing was reported may have one that nobody knows; only one that no node ever got has none.
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

/** A life that has claimed nothing has no nonce, and is taken to be of the node's present boot. */
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
