import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { gracePeriodSeconds } from "@virtkit/converter/launcher";
import { type DomainStatus, hasEnded } from "@virtkit/domain-manager";
import type { KubeObject } from "@virtkit/kube";
import type { NodeDomain } from "../plan/index.ts";
import type { GuestHold } from "./guest-hold.ts";
import type { EndedDump, EndedGuest } from "./guest-record.ts";
import { lastWords } from "./launcher-pods.ts";

/** Seconds, for a guest whose VMI is gone. */
const usualGrace = 30;

/** The domain of a hold as a plan knows it; undefined if its launcher says that there is none. */
export function nodeDomainOf(
  hold: GuestHold,
  vmi: VirtualMachineInstance | undefined,
  pod: KubeObject | undefined,
): NodeDomain | undefined {
  const domain = lastStatus(hold, pod);
  if (!domain || domain.state === "Absent") return undefined;
  const { state, ...rest } = domain;
  const { askedAt, vmiUid, synced, dump } = hold.record;
  // libvirt says the same about a guest that ran before libvirtd was restarted; no sync of that one was
  // interrupted.
  const isUnstarted = synced === undefined && state === "Shutoff" && domain.reason === "Unknown";
  return {
    ...rest,
    state,
    vmiUid,
    ...(isUnstarted && !hold.hasEnded ? { isUnstarted } : {}),
    ...(dump ? { memoryDump: memoryDumpOf(dump) } : {}),
    grace: {
      seconds: vmi ? gracePeriodSeconds(vmi) : usualGrace,
      ...(askedAt === undefined ? {} : { startedAt: askedAt }),
      isMarked: domain.shutdownRequestedAt !== undefined,
    },
  };
}

function memoryDumpOf({
  path,
  failureReason,
  ...times
}: EndedDump): NonNullable<NodeDomain["memoryDump"]> {
  const fileName = path.slice(path.lastIndexOf("/") + 1);
  if (failureReason === undefined) return { fileName, ...times, completed: true };
  return { fileName, ...times, failed: true, failureReason };
}

/**
 * A guest that libvirt has forgotten, or whose launcher has ended, ended as recorded or reported; it does not run.
 */
function lastStatus(hold: GuestHold, pod: KubeObject | undefined): DomainStatus | undefined {
  const { domain, record } = hold;
  const isKnown = domain !== undefined && domain.state !== "Absent";
  if (!hold.hasEnded && (isKnown || domain === undefined)) return domain;
  if (isKnown && hasEnded(domain)) return domain;
  const told: EndedGuest | undefined = record.end ?? (pod && lastWords(pod));
  if (!told) return undefined;
  const { acpi, ...end } = told;
  const hardware = acpi === undefined ? {} : { hardware: { acpi, emulated: false } };
  const nothing = { name: "", agent: "disconnected", interfaces: [], disks: [] } as const;
  return { ...nothing, ...hardware, ...domain, ...end };
}
