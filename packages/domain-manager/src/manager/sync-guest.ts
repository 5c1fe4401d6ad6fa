import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DomainManagerError } from "../domain-manager-error.ts";
import type { PendingChange } from "../status/domain-status.ts";
import { convergeGuest } from "./converge-guest.ts";
import type { SyncRequest } from "./guest-control.ts";
import { type FoundDomain, findDomain } from "./guest-domain.ts";
import type { GuestSession } from "./guest-session.ts";
import { nextStep } from "./next-step.ts";
import { isRecordOf, type RunRecord, readRunRecord, writeRunRecord } from "./run-record.ts";
import type { GuestIdentity } from "./run-right.ts";
import { resumeVcpus } from "./run-vcpus.ts";
import { startGuest, waitsForPlacement } from "./start-guest.ts";
import type { VerbCall } from "./verb-queue.ts";

/**
 * Brings a guest into the state that its VMI wants: starts it, changes it, or leaves it alone if it
 * has ended. libvirt's present state decides, so it can be repeated after a crash at any point.
 *
 * @throws DomainManagerError `DOMAIN_NOT_GRANTED` before anything else is done, if the proof is not
 * valid.
 */
export async function syncGuest(
  session: GuestSession,
  request: SyncRequest,
  call: VerbCall,
): Promise<readonly PendingChange[]> {
  const { libvirt, right, identity, name } = session;
  right.check(request.mayRun);
  requireSameGuest(request.vmi, identity);
  const { signal } = call;
  const found = await findDomain(libvirt, name, { signal });
  const record = found && (await readRunRecord(libvirt, found.dom, { signal }));
  if (record && !isRecordOf(record, identity.vmiUid)) throw otherGuest(name, record.vmiUid);
  switch (nextStep(found, record !== undefined)) {
    case "start":
      await startGuest(session, request, call);
      return [];
    case "converge":
      if (!found) return [];
      await settleRun(session, found, record, request, call);
      return await convergeGuest(session, found.dom, request, call);
    default:
      return [];
  }
}

/** Finishes what a start left open: records it, and resumes a guest that waited. */
async function settleRun(
  { libvirt, right, identity: { vmiUid } }: GuestSession,
  { dom, state }: FoundDomain,
  record: RunRecord | undefined,
  { vmi, mayRun }: SyncRequest,
  call: VerbCall,
): Promise<void> {
  if (record && !record.waits) return;
  if (record?.waits && state === "paused") {
    await resumeVcpus({ libvirt, right, mayRun, dom }, call.uninterrupted());
  }
  // An interrupted start has not recorded that its guest waits; pausing a guest records that it
  // does not.
  const waits = !record && state === "paused" && waitsForPlacement(vmi);
  await writeRunRecord(libvirt, dom, { vmiUid, waits }, { signal: call.signal });
}

function otherGuest(name: string, uid: string): DomainManagerError {
  const message = `the domain ${name} belongs to the VMI ${uid}; end and delete that one first`;
  return new DomainManagerError("DOMAIN_STATE", message, { path: name });
}

function requireSameGuest(
  { metadata }: VirtualMachineInstance,
  { namespace, name, vmiUid }: GuestIdentity,
): void {
  const wanted = { namespace, name, uid: vmiUid };
  for (const [field, value] of Object.entries(wanted)) {
    const found = metadata?.[field as keyof typeof wanted];
    if (found === value) continue;
    const path = `vmi.metadata.${field}`;
    const message = `${path}: found ${JSON.stringify(found) ?? "nothing"}, but this launcher is for ${value}`;
    throw new DomainManagerError("DOMAIN_ARGUMENT", message, { path });
  }
}
