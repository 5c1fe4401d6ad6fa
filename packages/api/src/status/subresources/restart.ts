import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { isSet, number } from "../../shape.ts";
import { conditionsOf, hasCondition } from "../conditions.ts";
import { runStrategyOf } from "../run-strategy.ts";
import { uidOf } from "../state-change-requests.ts";
import {
  accepted,
  badRequest,
  conflict,
  internalError,
  type Refusal,
  type SubresourceOutcome,
} from "./outcome.ts";
import { recoveryRequired } from "./start.ts";
import { type DryRunOptions, nameOf, queueRequests, setGracePeriod } from "./state-change.ts";

/** Body of `restart`. */
export interface RestartOptions extends DryRunOptions {
  /** Only 0 is allowed: do not wait for the guest to shut down. */
  readonly gracePeriodSeconds?: number;
}

/** The shortest grace period in which the node agent can still end the guest properly. */
const forcedGracePeriodSeconds = 1;

/** What is wrong with the request itself, regardless of the VM. */
export function restartRequestFault({ gracePeriodSeconds }: RestartOptions): Refusal | undefined {
  const seconds = number(gracePeriodSeconds);
  return seconds === 0
    ? undefined
    : badRequest(
        `gracePeriodSeconds is ${seconds}; use 0 to restart without waiting for the guest, or leave it out`,
      );
}

/** `restart`: asks the controller to stop this VMI and then start the VM again. */
export function planRestart(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  options: RestartOptions = {},
): SubresourceOutcome {
  const fault = restartRequestFault(options);
  if (fault) return fault;
  if (hasCondition(conditionsOf(vm), "VolumesChange", "True")) return refuse(vm, recoveryRequired);
  const found = runStrategyOf(vm);
  if ("contradiction" in found) return internalError(found.contradiction);
  if (found.strategy === "Halted" || found.strategy === "Once") {
    return refuse(
      vm,
      `spec.runStrategy is ${found.strategy}, which does not start it again; change the strategy`,
    );
  }
  if (!vmi) return refuse(vm, "it has no VMI to stop; start it");
  const queued = queueRequests(
    vm,
    [{ action: "Stop", uid: uidOf(vmi) }, { action: "Start" }],
    options,
  );
  if (queued.kind === "refused") return queued;
  const hurry = isSet(options.gracePeriodSeconds)
    ? [setGracePeriod(vmi, forcedGracePeriodSeconds, options)]
    : [];
  return accepted([...hurry, queued]);
}

function refuse(vm: VirtualMachine, why: string): Refusal {
  return conflict("virtualmachine", nameOf(vm), why);
}
