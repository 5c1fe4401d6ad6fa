import {
  decodeGrant,
  type EarlierHolder,
  grantAnnotation,
  type Holder,
  type RememberedRun,
  readMemory,
  runMemoryCondition,
} from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { ObjectMeta, VirtualMachineInstance } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import { judgeClaim } from "../plan/ownership.ts";
import type { PodObject } from "./cluster-objects.ts";

/**
 * What the VM of a VMI's name remembers about the Pods that were created for it. A VMI has no such memory if no VM has
 * its name.
 */
export interface VmMemory {
  isRemembered(podUID: string): boolean;
  readonly remembered: readonly EarlierHolder[];
  /** What a person must check if the end of what is remembered cannot be proven. */
  readonly advice?: string | undefined;
}

/** What counts of a VM besides its memory. */
interface VmMeta {
  readonly metadata?: ObjectMeta | undefined;
}

/** The memory if no VM has the VMI's name. */
export const noMemory: VmMemory = { isRemembered: () => true, remembered: [] };

/**
 * What a VM remembers that has the VMI's name, from its status. It also counts for a VMI that the VM has not created: its
 * earlier guest may still run. A VMI that the VM is going to adopt is remembered before it is granted, like its own.
 */
export function vmMemory(
  vmi: VirtualMachineInstance | undefined,
  vm: VmMeta | undefined,
  { names, pods }: { readonly names: Names; readonly pods: readonly PodObject[] },
): VmMemory {
  if (!vmi || !vm) return noMemory;
  const memory = readMemory(vm, names);
  const condition = names.own(runMemoryCondition);
  if ("problem" in memory) {
    const advice = `what the VM remembers cannot be read (${memory.problem}): make sure that no guest of this VM runs; then remove the condition ${condition} from its status`;
    const remembered = [{ holder: unprovable("unknown"), proofs: [] }];
    return { isRemembered: () => false, remembered, advice };
  }
  const uid = text(vmi.metadata?.uid);
  const earlier = memory.runs.filter(({ vmiUID }) => vmiUID !== uid);
  const run = memory.runs.find(({ vmiUID }) => vmiUID === uid);
  const unknown = earlier.filter((each) => holdersOf(each, pods).some(({ node }) => node === ""));
  const advice =
    unknown.length > 0
      ? `VMI ${unknown.map(({ vmiUID }) => vmiUID).join(", ")} of this VM was removed by force before its node was known: make sure that its guest does not run anywhere; then remove the condition ${condition} from the VM's status`
      : undefined;
  return {
    isRemembered: (podUID) =>
      isForeign(vmi, vm) || (run !== undefined && isOf(run, podUID, isFirst(vmi, names))),
    remembered: earlier
      .flatMap((each) => holdersOf(each, pods))
      .map((holder) => ({ holder, proofs: [] })),
    advice,
  };
}

/** Whether the VMI is not this VM's, by UID, and will not be: then the VM never remembers it. */
function isForeign(vmi: VirtualMachineInstance, vm: VmMeta): boolean {
  return !["own", "adopt"].includes(judgeClaim(vmi, vm, true));
}

/** Before the first claim every Pod of the VMI is remembered; later only those that are named. */
function isOf({ pods }: RememberedRun, podUID: string, isFirstGrant: boolean): boolean {
  return pods ? pods.some((pod) => pod.podUID === podUID) : isFirstGrant;
}

function isFirst({ metadata }: VirtualMachineInstance, names: Names): boolean {
  const value = entry(metadata?.annotations, names.own(grantAnnotation));
  const { state } = decodeGrant(value, text(metadata?.uid));
  return state === "Free" || state === "Granted";
}

/**
 * What may still run of an earlier VMI. A Pod that still exists is among those that are listed.
 * Nobody can prove anything about one that is gone and was never seen to claim.
 */
export function holdersOf(run: RememberedRun, pods: readonly PodObject[]): readonly Holder[] {
  if (!run.pods) return [unprovable("unknown")];
  const present = new Set(pods.map(({ metadata }) => text(metadata?.uid)));
  return run.pods.flatMap(({ podUID, holder }) => {
    if (holder) return [holder];
    return present.has(podUID) ? [] : [unprovable(podUID)];
  });
}

function unprovable(podUID: string): Holder {
  return { podUID, containerID: "", node: "", machineID: "", bootID: "", nonce: "" };
}
