import type { ProofOfEnd, ReadGrant } from "@virtkit/api/grant";
import { proofsFromNode, proofsFromPod } from "@virtkit/api/proofs";
import { isNotFound, type KubeObject } from "@virtkit/kube";
import type { AgentContext } from "../service/agent-context.ts";
import { podResource } from "../service/launcher-pods.ts";
import { nodeResource } from "../service/own-node.ts";

/**
 * The API server's proof that the source of a handover has ended, by live reads of its Pod and its Node. A Pod or a
 * Node that is gone proves nothing.
 */
export async function sourceProofs(
  grant: ReadGrant,
  namespace: string,
  { client, names, signal }: Pick<AgentContext, "client" | "names" | "signal">,
): Promise<readonly ProofOfEnd[]> {
  if (!("target" in grant)) return [];
  const { podUID, node } = grant.holder;
  const pods = await client.list(podResource, {
    ...{ namespace, labelSelector: `${names.labels.app}=virt-launcher`, signal },
  });
  const pod = pods.items.find(({ metadata }) => metadata.uid === podUID);
  const found = await presentNode(node, { client, signal });
  return [...(pod ? proofsFromPod(pod) : []), ...(found ? proofsFromNode(found) : [])];
}

async function presentNode(
  name: string,
  { client, signal }: Pick<AgentContext, "client" | "signal">,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(nodeResource, { name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
