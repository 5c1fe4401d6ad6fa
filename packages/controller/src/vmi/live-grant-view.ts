import { decodeGrant, grantAnnotation, readMemory } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
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
import { vmResources } from "../plan/vm-resources.ts";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";
import { namedBy } from "./incarnations.ts";
import { controllerOf } from "./own-pods.ts";
import { vmMemory } from "./vm-memory.ts";

/** Options of {@link liveGrantView}. */
export interface LiveReadOptions {
  readonly names: Names;
  /** Whether the VM is wanted, whoever owns the VMI of its name. */
  readonly isForVm?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What was read live about a VMI. */
export interface LiveGrant {
  readonly vmi: VirtualMachineInstance | undefined;
  /** The VM of its name; left out if the VMI is nobody's, unless it was asked for. */
  readonly vm: VirtualMachine | undefined;
  readonly grant: GrantView;
}

/** Reads the VMI, its VM, the Pods of its name and their nodes directly from the API server. */
export async function liveGrantView(
  client: Pick<KubeClient, "get" | "list">,
  name: ObjectName,
  { names, isForVm = false, signal }: LiveReadOptions,
): Promise<LiveGrant> {
  const read = async <T>(resource: Resource, object: ObjectName): Promise<T | undefined> => {
    try {
      return (await client.get(resource, object, { signal })) as T;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const readVm = () => read<VirtualMachine>(vmResources(names).vms, name);
  // Whoever writes one of them by its version reads that one first: what it goes by is then not older.
  const vmFirst = isForVm ? await readVm() : undefined;
  const vmi = await read<VirtualMachineInstance>(vmiResource(names), name);
  // A VMI that is nobody's has no VM that could remember something.
  const isAlone =
    !isForVm && vmi !== undefined && controllerOf(vmi.metadata)?.kind !== "VirtualMachine";
  const vm = isForVm ? vmFirst : isAlone ? undefined : await readVm();
  const pods = await listPods(client, name, names, signal);
  const memory = vmMemory(vmi, vm, { names, pods });
  const value = entry(vmi?.metadata?.annotations, names.own(grantAnnotation));
  const holders = namedBy(decodeGrant(value, text(vmi?.metadata?.uid)));
  const nodeNames = new Set([
    ...pods.map(({ spec }) => text(spec?.nodeName)),
    ...holders.map(({ node }) => node),
    ...runNodes(vm, names),
  ]);
  nodeNames.delete("");
  const nodes = await Promise.all([...nodeNames].map((node) => read(nodeResource, { name: node })));
  return { vmi, vm, grant: { ...memory, isLive: true, pods, nodes: nodes.filter(Boolean) } };
}

/** The nodes of all that a VM remembers. */
function runNodes(vm: VirtualMachine | undefined, names: Names): readonly string[] {
  const memory = readMemory(vm, names);
  if ("problem" in memory) return [];
  return memory.runs.flatMap(({ pods = [] }) => pods.map(({ holder }) => text(holder?.node)));
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
