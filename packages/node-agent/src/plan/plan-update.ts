import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";
import { withHostDisks } from "@virtkit/converter";
import { backOff } from "./hotplug-back-off.ts";
import { changedNetworks, hasUnpluggedHostDevices } from "./live-networks.ts";
import { dumpPath } from "./memory-dump.ts";
import { type NodePass, StepFailure } from "./node-pass.ts";

/** Starts a guest, or changes a running one, as far as that is possible now. */
export function updateGuest(pass: NodePass): void {
  const { vmi, view, domain } = pass;
  if (!vmi) return;
  const { state, isConnected } = view.launcher;
  if (state === "unknown") throw new StepFailure("the launcher's state is not known");
  if (state === "starting") {
    pass.again({ afterSeconds: 1 });
    return;
  }
  if (state === "ended") throw new StepFailure("the launcher has ended");
  if (!isConnected) throw new StepFailure("no connection to the launcher");
  assertClaims(vmi);
  const isRunning = vmi.status?.phase === "Running";
  const isNew = !domain || domain.isUnstarted === true;
  // Before anything is prepared: a guest that may not start is not prepared.
  if (isNew && view.grantObstacle !== undefined) throw new StepFailure(view.grantObstacle);
  const isReady = isRunning ? changeRunning(pass, vmi) : makeReady(pass, vmi);
  if (isReady === false) return;
  if (!isRunning) pass.attempt({ do: "hook", hook: "PreVMStart" });
  pass.attempt({ do: "sync", claims: isNew });
  if (isNew) pass.event("Normal", "Created", "the guest was defined");
  pass.attempt({ do: "housekeeping" });
  if (isRunning) pass.attempt({ do: "unmount-hotplug" });
  if (isReady !== true) throw isReady;
}

/** Claims with a file system get an image, which needs their size. */
function assertClaims(vmi: VirtualMachineInstance): void {
  try {
    withHostDisks(vmi);
  } catch (error) {
    throw new StepFailure(error instanceof Error ? error.message : String(error));
  }
}

/** Prepares the sandbox of a guest that does not run yet; false if something is still missing. */
function makeReady(pass: NodePass, vmi: VirtualMachineInstance): boolean {
  mountHotplug(pass);
  if (!areHotplugVolumesReady(vmi)) {
    pass.again({ afterSeconds: 1 });
    return false;
  }
  const prepared = pass.outcome({ do: "prepare" });
  if (prepared.kind === "failed") throw new StepFailure(prepared.message, prepared.isFinal);
  if (prepared.kind === "later") {
    const { afterSeconds } = prepared;
    pass.again(afterSeconds === undefined ? "rateLimited" : { afterSeconds });
    return false;
  }
  return !waitsForAttestation(vmi);
}

/**
 * What changes while a guest runs; false if nothing else may change yet. A network that fails is reported at the end: the
 * rest is done all the same.
 */
function changeRunning(pass: NodePass, vmi: VirtualMachineInstance): StepFailure | boolean {
  plugHostDevices(pass, vmi);
  mountHotplug(pass);
  if (!dumpMemory(pass, vmi)) return false;
  const { sandboxProblem } = pass.view;
  if (sandboxProblem !== undefined) throw new StepFailure(sandboxProblem);
  const networks = changedNetworks(vmi);
  if (networks.length === 0) return true;
  const wired = pass.outcome({ do: "wire-networks", networks });
  if (wired.kind !== "failed") return true;
  pass.event("Warning", "NicHotplug", wired.message);
  return new StepFailure(wired.message);
}

function mountHotplug(pass: NodePass): void {
  const mounted = pass.outcome({ do: "mount-hotplug" });
  if (mounted.kind === "later") pass.again({ afterSeconds: 1 });
  if (mounted.kind !== "failed") return;
  if (mounted.cause !== "missing") throw new StepFailure(mounted.message);
  pass.event("Warning", "HotplugFailed", mounted.message);
}

/** A guest starts with all volumes that were plugged in before. */
function areHotplugVolumesReady({ spec, status }: VirtualMachineInstance): boolean {
  const hasAny =
    (spec.utilityVolumes ?? []).length > 0 ||
    (spec.volumes ?? []).some(
      ({ persistentVolumeClaim, dataVolume, memoryDump }) =>
        persistentVolumeClaim?.hotpluggable || dataVolume?.hotpluggable || memoryDump?.hotpluggable,
    );
  if (!hasAny) return true;
  const statuses = status?.volumeStatus ?? [];
  const isReady = (phase: string | undefined): boolean =>
    phase === "Ready" || phase === "MountedToPod";
  return (
    statuses.length > 0 &&
    statuses.every(({ hotplugVolume, phase }) => !hotplugVolume || isReady(phase))
  );
}

/** A guest whose owner wants to attest its memory first starts when both of its secrets are there. */
function waitsForAttestation({ spec }: VirtualMachineInstance): boolean {
  const { sev } = spec.domain.launchSecurity ?? {};
  return isSet(sev?.attestation) && !(sev.session && sev.dhCert);
}

/** Plugs in host network devices that are in the Pod but not in the guest; a failure is retried later. */
function plugHostDevices(pass: NodePass, vmi: VirtualMachineInstance): void {
  if (!hasUnpluggedHostDevices(vmi)) {
    const { hostDevices: _, ...memory } = pass.memory;
    pass.memory = memory;
    return;
  }
  const { isDue, next } = backOff(pass.memory.hostDevices, pass.view.now);
  pass.memory = { ...pass.memory, hostDevices: next };
  const { isConnected, answers = isConnected } = pass.view.launcher;
  if (!isDue || !answers) return;
  const locked = pass.outcome({ do: "lock-memory" });
  if (locked.kind === "failed") {
    pass.event("Warning", "HostDevicesNotPlugged", locked.message);
    return;
  }
  pass.outcome({ do: "hotplug-host-devices" });
}

/** False while the memory is being written: a launcher changes a guest only afterwards. */
function dumpMemory(pass: NodePass, { status }: VirtualMachineInstance): boolean {
  let isWritten = true;
  for (const { name, phase, memoryDumpVolume } of status?.volumeStatus ?? []) {
    if (!memoryDumpVolume || phase !== "MemoryDumpInProgress") continue;
    const { isConnected, answers = isConnected } = pass.view.launcher;
    if (!answers) throw new StepFailure("the launcher does not answer; no memory is dumped");
    const path = dumpPath(pass.view.config.names, name, memoryDumpVolume.targetFileName ?? "");
    if (pass.attemptUnlessLater({ do: "memory-dump", path }).kind === "later") isWritten = false;
  }
  return isWritten;
}
