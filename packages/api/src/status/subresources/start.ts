import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { conditionsOf, hasCondition } from "../conditions.ts";
import { isFinal, phaseOf } from "../phases.ts";
import type { Write } from "../plan.ts";
import { runStrategyOf } from "../run-strategy.ts";
import { uidOf } from "../state-change-requests.ts";
import {
  accepted,
  conflict,
  internalError,
  type Refusal,
  type SubresourceOutcome,
} from "./outcome.ts";
import { type DryRunOptions, nameOf, queueRequests, setRunning } from "./state-change.ts";

/** Body of `start`. */
export interface StartOptions extends DryRunOptions {
  /** Start with the guest's CPUs paused. */
  readonly paused?: boolean;
}

/** Both verbs refuse with it: the volumes of the VM are inconsistent. */
export const recoveryRequired =
  "a migration of its volumes ended halfway, so some are older than others; set them back to their previous claims";

/** Why a VM cannot be started, regardless of the request; `undefined` if the run strategy decides. */
export function startObstacle(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): Refusal | undefined {
  if (vmi && !isFinal(vmi) && !["", "Unknown"].includes(phaseOf(vmi))) {
    return conflict("virtualmachine", nameOf(vm), "it is already started; stop or restart it");
  }
  return hasCondition(conditionsOf(vm), "ManualRecoveryRequired", "True")
    ? conflict("virtualmachine", nameOf(vm), recoveryRequired)
    : undefined;
}

/**
 * `start`: a halted VM gets another strategy (or a request, if it should start paused), a VM with a manual
 * strategy gets a request. Strategies that start VMs on their own refuse; `WaitAsReceiver` accepts and does
 * nothing.
 *
 * @example
 * ```ts
 * const outcome = planStart(vm, vmi, { paused: true });
 * outcome.kind === "accepted" ? outcome.writes : outcome.message;
 * ```
 */
export function planStart(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  options: StartOptions = {},
): SubresourceOutcome {
  const obstacle = startObstacle(vm, vmi);
  if (obstacle) return obstacle;
  const found = runStrategyOf(vm);
  if ("contradiction" in found) return internalError(found.contradiction);
  const { strategy } = found;
  switch (strategy) {
    case "Halted":
      return outcome(
        options.paused ? request(vm, undefined, options) : setRunning(vm, true, options),
      );
    case "Manual":
      return outcome(request(vm, isFinal(vmi) ? vmi : undefined, options));
    case "RerunOnFailure":
      return phaseOf(vmi) === "Failed"
        ? refuse(
            vm,
            `spec.runStrategy is ${strategy}, which restarts a failed VM automatically; wait for it`,
          )
        : outcome(request(vm, isFinal(vmi) ? vmi : undefined, options));
    case "Always":
    case "Once":
      return refuse(
        vm,
        `spec.runStrategy is ${strategy}, which starts it automatically; change the strategy to start it manually`,
      );
    default:
      return accepted([]);
  }
}

/** A request to start, after one to stop what is left of the last run. */
function request(
  vm: VirtualMachine,
  ended: VirtualMachineInstance | undefined,
  options: StartOptions,
): Write | Refusal {
  const start = options.paused
    ? { action: "Start", data: { paused: "true" } }
    : { action: "Start" };
  const stop = ended ? [{ action: "Stop", uid: uidOf(ended) }] : [];
  return queueRequests(vm, [...stop, start], options);
}

function outcome(result: Write | Refusal): SubresourceOutcome {
  return result.kind === "refused" ? result : accepted([result]);
}

function refuse(vm: VirtualMachine, why: string): Refusal {
  return conflict("virtualmachine", nameOf(vm), why);
}
