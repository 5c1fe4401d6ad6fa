import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import type { NodeDomain } from "./node-view.ts";

/** The file of a dump in the launcher. */
export function dumpPath({ directories }: Names, volume: string, file: string): string {
  return `${directories.hotplugDisks}/${volume}/${file}`;
}

/** The progress of a memory dump. `isUnderWay`: there is more to report. */
export function dumpStatus(
  { metadata }: VirtualMachineInstance,
  volume: VolumeStatus,
  domain: NodeDomain | undefined,
  now: string,
): { readonly volume: VolumeStatus; readonly isUnderWay: boolean } {
  const { memoryDumpVolume: info, name, phase } = volume;
  if (info && phase === "MountedToPod") {
    const targetFileName = `${metadata?.name ?? ""}-${name}-${stamp(now)}.memory.dump`;
    const begun: VolumeStatus = {
      ...volume,
      phase: "MemoryDumpInProgress",
      reason: "VolumeMountedToPod",
      message: `the memory is being written to the volume ${name}`,
      memoryDumpVolume: { ...info, targetFileName },
    };
    return { volume: begun, isUnderWay: true };
  }
  const found = domain?.memoryDump;
  const isBegun = info && phase === "MemoryDumpInProgress";
  if (!isBegun || !found || found.fileName !== info.targetFileName) {
    return { volume, isUnderWay: false };
  }
  const { startTimestamp, endTimestamp, failed, completed, failureReason = "" } = found;
  const memoryDumpVolume = { ...info, ...(startTimestamp ? { startTimestamp } : {}) };
  const ended = { ...memoryDumpVolume, ...(endTimestamp ? { endTimestamp } : {}) };
  if (failed && endTimestamp) {
    const message = `the memory could not be written to ${name}: ${failureReason}`;
    return {
      volume: { ...volume, phase: "MemoryDumpFailed", message, memoryDumpVolume: ended },
      isUnderWay: true,
    };
  }
  if (!completed) return { volume: { ...volume, memoryDumpVolume }, isUnderWay: true };
  const done: VolumeStatus = {
    ...volume,
    phase: "MemoryDumpCompleted",
    reason: "VolumeReady",
    message: `the memory was written to the volume ${name}`,
    memoryDumpVolume: ended,
  };
  return { volume: done, isUnderWay: true };
}

/** `20300101-120000`, of the time as objects write it. */
function stamp(now: string): string {
  return now.replace(/[-:Z]/g, "").replace("T", "-");
}
