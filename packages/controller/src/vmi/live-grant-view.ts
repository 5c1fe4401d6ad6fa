import { decodeGrant, grantAnnotation, type ReadGrant, readMemory } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import { isFinal } from "@virtkit/api/status";
import { isNotFound, type KubeClient, type ObjectName, type Resource } from "@virtkit/kube";
import { vmiIdentifier } from "@virtkit/launcher-pod/traits";
import { listAll } from "../plan/list-all.ts";
import { nodeResource, podResource, vmiResource } from "../plan/resources.ts";
import { vmResources } from "../plan/vm-resources.ts";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";
import { namedBy } from "./incarnations.ts";
import { controllerOf, isControlledBy } from "./own-pods.ts";
import { isGoingDown } from "./pod-state.ts";
import { vmMemory } from "./vm-memory.ts";

/** Options of {@link liveGrantView}. */
export interface LiveReadOptions {
  readonly names: Names;
  /** Whether to read the VM, regardless of the owner of the VMI with its name. */
  readonly isForVm?: boolean;
  /** Pods of its name that a cache shows; one that the list lacks, because it has lost the label, is read by itself. */
  readonly cachedPods?: readonly PodObject[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What was read live about a VMI. */
export interface LiveGrant {
  readonly vmi: VirtualMachineInstance | undefined;
  /** The VM of its name; left out if the VMI is not a VM's, unless it was asked for. */
  readonly vm: VirtualMachine | undefined;
  readonly grant: GrantView;
}

/**
 * Reads the VMI, its VM, the Pods of its name and their nodes directly from the API server. Pods and nodes
 * are left out if there is nothing whose end they could prove: most VMs are created once, and a request is
 * the most expensive part of a pass.
 */
export async function liveGrantView(
  client: Pick<KubeClient, "get" | "list">,
  name: ObjectName,
  { names, isForVm = false, cachedPods = [], signal }: LiveReadOptions,
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
  const readPods = async (): Promise<readonly PodObject[]> => {
    const listed = await listPods(client, name, names, signal);
    const unlisted = missingFrom(listed, cachedPods).map(async ({ metadata }) => {
      const pod = await read<PodObject>(podResource, podNameOf(metadata));
      return pod && isOfVmi(pod, name.name) ? [pod] : [];
    });
    return [...listed, ...(await Promise.all(unlisted)).flat()];
  };
  // A caller that writes one of them by its version reads that one first, so that what it decides
  // by is not older.
  const vmFirst = isForVm ? await readVm() : undefined;
  const vmi = await read<VirtualMachineInstance>(vmiResource(names), name);
  const value = entry(vmi?.metadata?.annotations, names.own(grantAnnotation));
  const grant = decodeGrant(value, text(vmi?.metadata?.uid));
  // A VM of its name counts before the first grant, whoever created the VMI: an earlier VMI of the VM may run.
  const isAlone = vmi !== undefined && controllerOf(vmi.metadata)?.kind !== "VirtualMachine";
  const needsVm = !isAlone || grant.state === "Free";
  const [vm, pods] = isForVm
    ? [vmFirst, mayHaveRun(vmFirst, grant, names) ? await readPods() : []]
    : await Promise.all([needsVm ? readVm() : undefined, readPods()]);
  const memory = vmMemory(vmi, vm, { names, pods });
  const isNew = isUngranted(vmi, grant, pods) && memory.remembered.length === 0;
  const nodeNames = new Set([
    ...(isNew ? [] : pods.map(({ spec }) => text(spec?.nodeName))),
    ...namedBy(grant).map(({ node }) => node),
    ...runNodes(vm, names),
  ]);
  nodeNames.delete("");
  const nodes = await Promise.all([...nodeNames].map((node) => read(nodeResource, { name: node })));
  const ownVm = isAlone && !isForVm ? undefined : vm;
  const view = { ...memory, isLive: true, pods, nodes: nodes.filter(Boolean) };
  return { vmi, vm: ownVm, grant: view };
}

/** Whether a guest of a VM may have run: its VMI's grant names one, or the VM remembers one. */
function mayHaveRun(vm: VirtualMachine | undefined, grant: ReadGrant, names: Names): boolean {
  const memory = readMemory(vm, names);
  return "problem" in memory || memory.runs.length > 0 || "holder" in grant;
}

/** Whether nobody has been granted the guest of a VMI yet, and every Pod of its name is its own and up. */
function isUngranted(
  vmi: VirtualMachineInstance | undefined,
  grant: ReadGrant,
  pods: readonly PodObject[],
): boolean {
  if (!vmi || grant.state !== "Free" || vmi.metadata?.deletionTimestamp || isFinal(vmi)) {
    return false;
  }
  return pods.every((pod) => isControlledBy(pod, vmi) && !isGoingDown(pod));
}

/** The nodes of everything that a VM remembers. */
function runNodes(vm: VirtualMachine | undefined, names: Names): readonly string[] {
  const memory = readMemory(vm, names);
  if ("problem" in memory) return [];
  return memory.runs.flatMap(({ pods = [] }) => pods.map(({ holder }) => text(holder?.node)));
}

/**
 * The launcher Pods of every present or earlier VMI of this name; a label alone does not make a Pod
 * one.
 */
async function listPods(
  client: Pick<KubeClient, "list">,
  { namespace, name }: ObjectName,
  names: Names,
  signal: AbortSignal | undefined,
): Promise<readonly PodObject[]> {
  const labelSelector = `${names.labels.vmiId}=${vmiIdentifier(name)}`;
  const found = await listAll(client, podResource, { namespace, labelSelector, signal });
  return (found as PodObject[]).filter((pod) => isOfVmi(pod, name));
}

function isOfVmi({ metadata }: PodObject, vmi: string): boolean {
  const owner = controllerOf(metadata);
  return owner?.kind === "VirtualMachineInstance" && owner.name === vmi;
}

function missingFrom(
  listed: readonly PodObject[],
  cached: readonly PodObject[],
): readonly PodObject[] {
  const uids = new Set(listed.map(({ metadata }) => metadata?.uid));
  return cached.filter(({ metadata }) => !uids.has(metadata?.uid));
}

function podNameOf(metadata: PodObject["metadata"]): ObjectName {
  return { namespace: text(metadata?.namespace), name: text(metadata?.name) };
}
