import { decodeGrant, type EarlierHolder, grantAnnotation } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import {
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectName,
  type Resource,
} from "@virtkit/kube";
import { vmiIdentifier } from "@virtkit/launcher-pod/traits";
import { nodeResource, podResource, vmiResource } from "../plan/resources.ts";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";
import { namedBy } from "./incarnations.ts";
import { controllerOf } from "./own-pods.ts";

/** What a VM remembers of the Pods that were made for it. A VMI without a VM has nobody to remember. */
export interface VmMemory {
  isRemembered(podUID: string): boolean;
  readonly remembered: readonly EarlierHolder[];
}

/** Options of {@link liveGrantView}. */
export interface LiveReadOptions {
  readonly names: Names;
  readonly memory: VmMemory;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the VMI, the Pods of its name and their nodes from the API server itself. */
export async function liveGrantView(
  client: Pick<KubeClient, "get" | "list">,
  name: ObjectName,
  { names, memory, signal }: LiveReadOptions,
): Promise<{ readonly vmi: VirtualMachineInstance | undefined; readonly grant: GrantView }> {
  const read = async <T>(resource: Resource, object: ObjectName): Promise<T | undefined> => {
    try {
      return (await client.get(resource, object, { signal })) as T;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const vmi = await read<VirtualMachineInstance>(vmiResource(names), name);
  const pods = await listPods(client, name, names, signal);
  const value = entry(vmi?.metadata?.annotations, names.own(grantAnnotation));
  const holders = namedBy(decodeGrant(value, text(vmi?.metadata?.uid)));
  const nodeNames = new Set([
    ...pods.map(({ spec }) => text(spec?.nodeName)),
    ...holders.map(({ node }) => node),
  ]);
  nodeNames.delete("");
  const nodes = await Promise.all([...nodeNames].map((node) => read(nodeResource, { name: node })));
  return { vmi, grant: { ...memory, isLive: true, pods, nodes: nodes.filter(Boolean) } };
}

/** The launcher Pods of every VMI that has or had this name; a label alone does not make a Pod one. */
async function listPods(
  client: Pick<KubeClient, "list">,
  { namespace, name }: ObjectName,
  names: Names,
  signal: AbortSignal | undefined,
): Promise<readonly PodObject[]> {
  const labelSelector = `${names.labels.vmiId}=${vmiIdentifier(name)}`;
  const found: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(podResource, {
      namespace,
      labelSelector,
      continue: next,
      signal,
    });
    found.push(...page.items);
    next = page.metadata.continue || undefined;
  } while (next);
  return (found as PodObject[]).filter(({ metadata }) => {
    const owner = controllerOf(metadata);
    return owner?.kind === "VirtualMachineInstance" && owner.name === name;
  });
}
