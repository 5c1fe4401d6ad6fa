import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { at, isSet, number } from "../../shape.ts";
import { isFinal } from "../phases.ts";
import type { Write } from "../plan.ts";
import { runStrategyOf } from "../run-strategy.ts";
import { uidOf } from "../state-change-requests.ts";
import { accepted, conflict, internalError, type SubresourceOutcome } from "./outcome.ts";
import {
  type DryRunOptions,
  nameOf,
  queueRequests,
  setGracePeriod,
  setRunning,
} from "./state-change.ts";

/** Body of `stop`. */
export interface StopOptions extends DryRunOptions {
  /** Seconds that the guest has to shut down. */
  readonly gracePeriod?: number;
}

/**
 * `stop`: strategies that would start the VM again are set to `Halted`; the others get a request. If a VM is
 * already being halted, only a shorter grace period is accepted. `WaitAsReceiver` accepts and does nothing.
 */
export function planStop(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  options: StopOptions = {},
): SubresourceOutcome {
  const found = runStrategyOf(vm);
  if ("contradiction" in found) return internalError(found.contradiction);
  const hurry =
    vmi && !isFinal(vmi) && isSet(options.gracePeriod)
      ? [setGracePeriod(vmi, number(options.gracePeriod), options)]
      : [];
  switch (found.strategy) {
    case "Halted":
    case "RerunOnFailure":
    case "Manual":
      return request(vm, vmi, found.strategy, hurry, options);
    case "Always":
    case "Once":
      return accepted([...hurry, setRunning(vm, false, options)]);
    default:
      return accepted(hurry);
  }
}

function request(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  strategy: string,
  hurry: readonly Write[],
  options: StopOptions,
): SubresourceOutcome {
  if (!vmi || isFinal(vmi)) return conflict("virtualmachine", nameOf(vm), "it has no VMI to stop");
  if (strategy === "Halted" && !isShorter(vmi, options)) {
    const why = "it is already halted; only a gracePeriod shorter than the VMI's has an effect";
    return conflict("virtualmachine", nameOf(vm), why);
  }
  const stop = queueRequests(vm, [{ action: "Stop", uid: uidOf(vmi) }], options);
  return stop.kind === "refused" ? stop : accepted([...hurry, stop]);
}

function isShorter(vmi: VirtualMachineInstance, { gracePeriod }: StopOptions): boolean {
  const present = at(vmi, "spec", "terminationGracePeriodSeconds");
  if (!isSet(gracePeriod)) return false;
  return !isSet(present) || number(gracePeriod) < number(present);
}
