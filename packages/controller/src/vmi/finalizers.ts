import { text } from "@virtkit/api/shape";
import type { LabelledObject } from "./cluster-objects.ts";
import { controllerOf, podsOf } from "./own-pods.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The name of the VMI's finalizer before it had a domain. */
function oldFinalizer({ names }: VmiPass): string {
  return names.finalizers.vmi.slice(names.finalizers.vmi.indexOf("/") + 1);
}

/** Renames the VMI's finalizer to its present name. */
export function renameFinalizer(pass: VmiPass): void {
  const old = oldFinalizer(pass);
  if (!pass.finalizers.includes(old)) return;
  const current = pass.names.finalizers.vmi;
  const others = pass.finalizers.filter((each) => each !== old);
  pass.finalizers = others.includes(current) ? others : [...others, current];
}

/**
 * Releases a VMI that has ended, once none of its Pods is left and all are proven to have ended.
 */
export function releaseEnded(pass: VmiPass): void {
  if (podsOf(pass.view).length === 0 && mayRelease(pass)) {
    releaseVmi(pass);
    const { [pass.names.labels.outdatedLauncherImage]: _, ...labels } = pass.labels;
    pass.labels = labels;
    const { launcherContainerImageVersion: __, ...status } = pass.status;
    pass.status = status;
  }
  releaseFromVm(pass);
}

/** Releases a VMI that never had a guest. */
export function releaseUnstarted(pass: VmiPass): void {
  if (!mayRelease(pass)) return;
  releaseVmi(pass);
  releaseFromVm(pass);
}

/**
 * A missing Pod object is not proof, and neither is an empty cache. A VM that is being deleted is released
 * first, as soon as it has seen that the grant has ended: then both finalizers are removed in one write.
 */
function mayRelease(pass: VmiPass): boolean {
  const isHeld = pass.finalizers.includes(pass.names.finalizers.vmi);
  return !pass.grant || !isHeld || (pass.grant.isOver && !isVmGoing(pass));
}

function releaseVmi(pass: VmiPass): void {
  const own = [pass.names.finalizers.vmi, oldFinalizer(pass)];
  pass.finalizers = pass.finalizers.filter((each) => !own.includes(each));
}

/** Whether the VM is about to be gone, and this VMI is the last that it has handled. */
function isVmGoing(pass: VmiPass): boolean {
  const { vm } = pass.view;
  const finalizer = pass.names.finalizers.vm;
  const isHolding = pass.finalizers.includes(finalizer) && pass.isBeingDeleted;
  const isGoing = Boolean(vm?.metadata?.deletionTimestamp);
  return isHolding && hasOwnerVm(pass) && isGoing && holdsFinalizer(vm, finalizer);
}

function holdsFinalizer(object: LabelledObject | undefined, finalizer: string): boolean {
  return object?.metadata?.finalizers?.includes(finalizer) === true;
}

/**
 * The VM removes its own finalizer from the VMI. If the VM no longer exists, or is being
 * deleted and has released itself, nobody else would.
 */
function releaseFromVm(pass: VmiPass): void {
  // Both are removed in one write.
  if (pass.grant && pass.finalizers.includes(pass.names.finalizers.vmi)) return;
  const { vm } = pass.view;
  const isGone =
    Boolean(vm?.metadata?.deletionTimestamp) && !holdsFinalizer(vm, pass.names.finalizers.vm);
  if (hasOwnerVm(pass) && !(pass.grant && isGone)) return;
  pass.finalizers = pass.finalizers.filter((each) => each !== pass.names.finalizers.vm);
}

function hasOwnerVm({ vmi, view }: VmiPass): boolean {
  const owner = controllerOf(vmi.metadata);
  return (
    owner?.kind === "VirtualMachine" &&
    view.vm !== undefined &&
    text(view.vm.metadata?.uid) === text(owner.uid)
  );
}
