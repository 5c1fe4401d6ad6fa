import { type VirtualMachine, type VirtualMachineSpec, VolumeSchema } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, notSupported, quote } from "./cause.ts";
import { effectiveRunStrategy } from "./run-strategy.ts";
import { semanticallyEqual } from "./semantic-equality.ts";

/** While a snapshot is taken, volumes and run state must not change. */
export function snapshotInProgress(vm: VirtualMachine, old: VirtualMachine): readonly Cause[] {
  const snapshot = vm.status?.snapshotInProgress;
  if (!isSet(snapshot)) return fine;
  if (!sameVolumes(vm.spec, old.spec)) {
    return notSupported(
      "spec",
      `cannot change its volumes while the snapshot ${quote(snapshot)} is taken; wait for it`,
    );
  }
  if (sameRunState(vm.spec, old.spec)) return fine;
  return notSupported(
    "spec",
    `cannot start or stop while the snapshot ${quote(snapshot)} is taken; wait for it`,
  );
}

/** A VM is not started while it is being restored. */
export function restoreInProgress(vm: VirtualMachine, old: VirtualMachine): readonly Cause[] {
  const restore = vm.status?.restoreInProgress;
  if (!isSet(restore)) return fine;
  if (effectiveRunStrategy(vm.spec) === effectiveRunStrategy(old.spec)) return fine;
  return notSupported(
    "spec",
    `cannot change its runStrategy while ${quote(restore)} restores it; wait for it`,
  );
}

function sameVolumes(a: VirtualMachineSpec, b: VirtualMachineSpec): boolean {
  const left = a.template.spec?.volumes ?? [];
  const right = b.template.spec?.volumes ?? [];
  return (
    left.length === right.length &&
    left.every((volume, i) => {
      const other = right[i];
      return other && semanticallyEqual(VolumeSchema, volume, other);
    })
  );
}

/** Changing from one spelling to the other counts as a change. */
function sameRunState(a: VirtualMachineSpec, b: VirtualMachineSpec): boolean {
  if (isSet(a.running) && isSet(b.running)) return a.running === b.running;
  return isSet(a.runStrategy) && isSet(b.runStrategy) && a.runStrategy === b.runStrategy;
}
