import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineMemoryDumpRequest,
  VolumeStatus,
} from "../schema/index.ts";
import { at, isObject, objects, text } from "../shape.ts";
import { volumesOf } from "./vm-storage.ts";

type Request = VirtualMachineMemoryDumpRequest;

/** The memory dump that was requested of a VM. */
export function memoryDumpRequestOf(vm: VirtualMachine): Request | undefined {
  const request = at(vm, "status", "memoryDumpRequest");
  return isObject(request) ? (request as unknown as Request) : undefined;
}

/** Whether a requested dump has ended, successfully or not: a new VMI must not begin it again. */
export function isMemoryDumpOver(vm: VirtualMachine): boolean {
  const request = memoryDumpRequestOf(vm);
  return request !== undefined && !["Associating", "InProgress"].includes(text(request.phase));
}

/** The desired request after what the VM and the VMI show; `undefined` removes it. */
export function nextMemoryDumpRequest(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): Request | undefined {
  const request = memoryDumpRequestOf(vm);
  if (!request) return undefined;
  const name = text(request.claimName);
  const isInTemplate = volumesOf(vm).some((volume) => volume.name === name);
  const status = volumeStatusOf(vmi, name);
  // A removal request wins over whatever the dump is doing, except in a phase that ends on its own.
  const base: Request = request.remove ? { ...request, phase: "Dissociating" } : request;
  switch (request.phase) {
    case "Completed":
      return request;
    case "Associating":
      return isInTemplate ? { ...base, phase: "InProgress" } : base;
    case "InProgress":
      return status?.memoryDumpVolume ? dumped(base, status) : base;
    case "Unmounting":
      return status ? request : { ...base, phase: "Completed" };
    case "Dissociating":
      return status || isInTemplate ? request : undefined;
    default:
      return base;
  }
}

function dumped(request: Request, status: VolumeStatus): Request {
  const { startTimestamp, endTimestamp, targetFileName } = status.memoryDumpVolume ?? {};
  const started: Request = startTimestamp ? { ...request, startTimestamp } : request;
  const ended: Request = endTimestamp ? { ...started, endTimestamp } : started;
  switch (status.phase) {
    case "MemoryDumpCompleted":
      return { ...ended, phase: "Unmounting", fileName: targetFileName ?? "" };
    case "MemoryDumpFailed":
      return { ...ended, phase: "Failed", ...(status.message ? { message: status.message } : {}) };
    default:
      return started;
  }
}

function volumeStatusOf(
  vmi: VirtualMachineInstance | undefined,
  name: string,
): VolumeStatus | undefined {
  return objects<VolumeStatus>(at(vmi, "status", "volumeStatus")).find(
    (status) => status.name === name,
  );
}
