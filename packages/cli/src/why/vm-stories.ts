import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { at, text } from "@virtkit/api/shape";
import { type VmStory, type VmStoryInput, whyVm } from "@virtkit/api/timeline";

/** A VM in the files, and why it is in its state. */
export interface ToldVm extends VmStory {
  readonly vm: VirtualMachine;
}

/** The stories of all VMs among the objects, from whatever else of theirs is there. */
export function vmStoriesIn(values: readonly unknown[], now: number): readonly ToldVm[] {
  const ofKind = <T>(kind: string): T[] =>
    values.filter((value) => at(value, "kind") === kind) as T[];
  const vmis = ofKind<VirtualMachineInstance>("VirtualMachineInstance");
  const others = {
    dataVolumes: ofKind<NonNullable<VmStoryInput["dataVolumes"]>[number]>("DataVolume"),
    revisions: ofKind("ControllerRevision"),
    events: ofKind<NonNullable<VmStoryInput["events"]>[number]>("Event"),
  };
  return ofKind<VirtualMachine>("VirtualMachine").map((vm) => {
    const vmi = vmis.find((item) => placeOf(item) === placeOf(vm));
    return { vm, ...whyVm({ vm, vmi, ...others, now }) };
  });
}

/** A story for people, in a line or two. */
export function vmStoryText({ vm, state, reason, restart, restartReason }: ToldVm): string {
  const waiting = restart.join(", ") || restartReason;
  const changes = waiting === undefined ? "" : `\n  waiting for a restart: ${waiting}`;
  return `VM ${placeOf(vm).replace(/\p{Cc}+/gu, " ")}: ${state}: ${reason}${changes}\n`;
}

/** A story for programs. */
export function vmStoryObject({ vm, state, reason, restart, restartReason }: ToldVm): unknown {
  return {
    kind: "VirtualMachine",
    namespace: vm.metadata?.namespace,
    name: vm.metadata?.name,
    state,
    reason,
    restart,
    ...(restartReason === undefined ? {} : { restartReason }),
  };
}

function placeOf(object: unknown): string {
  const namespace = text(at(object, "metadata", "namespace"));
  const name = text(at(object, "metadata", "name")) || "(without a name)";
  return namespace ? `${namespace}/${name}` : name;
}
