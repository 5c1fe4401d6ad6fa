import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStateChangeRequest,
} from "../schema/index.ts";
import { at, isSet, objects, text } from "../shape.ts";
import { isFinal } from "./phases.ts";

/** Requests to subresources of a VM that are not done yet; only the first one counts. */
export function stateChangeRequestsOf(
  vm: VirtualMachine,
): readonly VirtualMachineStateChangeRequest[] {
  return objects<VirtualMachineStateChangeRequest>(at(vm, "status", "stateChangeRequests"));
}

/** Whether the next request is a start. */
export function hasStartRequest(vm: VirtualMachine): boolean {
  return stateChangeRequestsOf(vm)[0]?.action === "Start";
}

/** Whether the next request is a start with the guest paused. */
export function hasStartPausedRequest(vm: VirtualMachine): boolean {
  return hasStartRequest(vm) && at(stateChangeRequestsOf(vm)[0], "data", "paused") === "true";
}

/** Whether the next request is to stop exactly this VMI. A stop without a UID stops nothing. */
export function hasStopRequestFor(vm: VirtualMachine, vmi: VirtualMachineInstance): boolean {
  const [request] = stateChangeRequestsOf(vm);
  return request?.action === "Stop" && isSet(request.uid) && request.uid === uidOf(vmi);
}

/**
 * Whether the first request is done: a stop once its VMI is gone (or if it names none), a start once there is a
 * living VMI.
 */
export function isFirstRequestDone(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): boolean {
  const [request] = stateChangeRequestsOf(vm);
  if (request?.action === "Stop") {
    return !vmi || !isSet(request.uid) || request.uid !== uidOf(vmi);
  }
  if (request?.action === "Start") {
    return vmi !== undefined && !isSet(at(vmi, "metadata", "deletionTimestamp")) && !isFinal(vmi);
  }
  return false;
}

/** The UID of an object, or an empty string. */
export function uidOf(object: unknown): string {
  return text(at(object, "metadata", "uid"));
}
