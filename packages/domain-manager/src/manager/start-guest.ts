import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { contextNames, type Domain } from "@virtkit/converter";
import { type DefinedGuest, defineGuest } from "./define-guest.ts";
import type { SyncRequest } from "./guest-control.ts";
import type { GuestSession, StageReport } from "./guest-session.ts";
import { localPaths } from "./launcher-files.ts";
import { prepareFirmware, prepareGuest, writeDeviceMetadata } from "./prepare-guest.ts";
import { writeRunRecord } from "./run-record.ts";
import { startVcpus } from "./run-vcpus.ts";
import type { VerbCall } from "./verb-queue.ts";
import { wantedDomain } from "./wanted-domain.ts";

/**
 * Prepares, defines and starts a guest that does not run. Every part is safe to repeat, so it does
 * not matter how far an earlier attempt got. Returns the requested domain.
 */
export async function startGuest(
  session: GuestSession,
  { vmi, context, pod, mayRun }: SyncRequest,
  call: VerbCall,
): Promise<Domain> {
  const { libvirt, right, identity } = session;
  const { signal } = call;
  const { wanted, defined } = await inStage(session, "domain-defined", async () => {
    const cloudInit = await prepareGuest(session, vmi, context, signal);
    const domain = await wantedDomain(session, { vmi, context, pod });
    await prepareFirmware(session, domain, localPaths(session.names, context), signal);
    signal.throwIfAborted();
    const names = contextNames(context);
    const made: DefinedGuest = await defineGuest(libvirt, vmi, domain, { names, signal });
    if (cloudInit) await writeDeviceMetadata(session, vmi, cloudInit, made.xml, signal);
    return { wanted: domain, defined: made };
  });
  await inStage(session, "guest-running", async () => {
    signal.throwIfAborted();
    const waits = waitsForPlacement(vmi);
    const paused = waits || vmi.spec.startStrategy === "Paused";
    const target = { libvirt, right, mayRun, dom: defined.dom };
    const dom = await startVcpus(target, { paused }, call.uninterrupted());
    await writeRunRecord(libvirt, dom, { vmiUid: identity.vmiUid, waits }, call.uninterrupted());
  });
  return wanted;
}

/** Whether the emulator's threads must be given their CPUs before the guest's own run. */
export function waitsForPlacement({ spec }: VirtualMachineInstance): boolean {
  const { dedicatedCpuPlacement, isolateEmulatorThread } = spec.domain.cpu ?? {};
  const isAsked = dedicatedCpuPlacement === true && isolateEmulatorThread === true;
  return isAsked && spec.startStrategy !== "Paused";
}

async function inStage<T>(
  { report }: GuestSession,
  stage: StageReport["stage"],
  run: () => Promise<T>,
): Promise<T> {
  try {
    const result = await run();
    report({ stage, state: "done" });
    return result;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    report({ stage, state: "failed", message });
    throw error;
  }
}
