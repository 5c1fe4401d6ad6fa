import { canonicalForm } from "../../canonical-form.ts";
import type { PatchOperation } from "../../network/vm-network-sync.ts";
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStateChangeRequest,
} from "../../schema/index.ts";
import { VirtualMachineStatusSchema } from "../../schema/virtual-machine/virtual-machine-status.ts";
import { at, isSet, text } from "../../shape.ts";
import type { Write } from "../plan.ts";
import { stateChangeRequestsOf } from "../state-change-requests.ts";
import { internalError, type Refusal } from "./outcome.ts";

/** Whether a request is a dry run: `dryRun: ["All"]`. */
export interface DryRunOptions {
  readonly dryRun?: readonly string[];
}

/**
 * Queues requests for the controller.
 *
 * A lone stop replaces all pending requests; anything else is refused while one is pending, because only the
 * first request in the queue counts. The record of failed starts is cleared: a person decided.
 */
export function queueRequests(
  vm: VirtualMachine,
  requests: readonly VirtualMachineStateChangeRequest[],
  options: DryRunOptions,
): Write | Refusal {
  const path = "/status/stateChangeRequests";
  const waiting = stateChangeRequestsOf(vm);
  const isStop = requests.length === 1 && requests[0]?.action === "Stop";
  const patch: PatchOperation[] = [];
  if (isEmptyStatus(vm)) {
    patch.push({ op: "add", path: "/status", value: { stateChangeRequests: requests } });
  } else {
    if (waiting.length > 0 && !isStop) {
      return internalError("status.stateChangeRequests has a pending request; try again later");
    }
    const found = at(vm, "status", "stateChangeRequests") ?? null;
    patch.push({ op: "test", path, value: found });
    patch.push({ op: waiting.length > 0 ? "replace" : "add", path, value: requests });
  }
  if (isSet(at(vm, "status", "startFailure"))) {
    patch.push({ op: "remove", path: "/status/startFailure" });
  }
  return {
    kind: "patch",
    resource: "virtualmachines",
    subresource: "status",
    name: nameOf(vm),
    patch,
    ...dryRun(options),
  };
}

/** Sets the run strategy to `Always` or `Halted`, in the field that the VM uses. */
export function setRunning(vm: VirtualMachine, running: boolean, options: DryRunOptions): Write {
  const strategy = at(vm, "spec", "runStrategy");
  const [path, before, after] = isSet(strategy)
    ? ["/spec/runStrategy", strategy, running ? "Always" : "Halted"]
    : ["/spec/running", at(vm, "spec", "running") ?? null, running];
  return {
    kind: "patch",
    resource: "virtualmachines",
    name: nameOf(vm),
    patch: [
      { op: "test", path, value: before },
      { op: "replace", path, value: after },
    ],
    ...dryRun(options),
  };
}

/** Gives a VMI another grace period. */
export function setGracePeriod(
  vmi: VirtualMachineInstance,
  seconds: number,
  options: DryRunOptions,
): Write {
  const path = "/spec/terminationGracePeriodSeconds";
  return {
    kind: "patch",
    resource: "virtualmachineinstances",
    name: nameOf(vmi),
    patch: [
      { op: "test", path, value: at(vmi, "spec", "terminationGracePeriodSeconds") ?? null },
      { op: "replace", path, value: seconds },
    ],
    ...dryRun(options),
  };
}

/** The name of an object, or an empty string. */
export function nameOf(object: unknown): string {
  return text(at(object, "metadata", "name"));
}

/** The mark of a dry run. */
export function dryRun(options: DryRunOptions): { readonly dryRun?: true } {
  return options.dryRun?.[0] === "All" ? { dryRun: true } : {};
}

function isEmptyStatus(vm: VirtualMachine): boolean {
  const status = canonicalForm(at(vm, "status"), VirtualMachineStatusSchema) ?? {};
  return Object.keys(status).length === 0;
}
