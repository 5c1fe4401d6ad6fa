import type { DomainRef } from "../libvirt/event-hub.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { Caller } from "./guest-domain.ts";

const uri = "https://virtkit.io/run";
const key = "virtkit";

/** What is kept with a domain that has run. */
export interface RunRecord {
  /** The VMI that it has run for. */
  readonly vmiUid: string;
  /**
   * It was started paused so that the node agent can place its threads; the next sync resumes it.
   */
  readonly waits: boolean;
}

/**
 * What is known about a domain's runs; undefined if it has never run. It is kept with the domain in
 * libvirt: a restarted libvirtd forgets why a domain is shut off, and one that was powered off
 * would look like one that never started.
 */
export async function readRunRecord(
  libvirt: Caller,
  dom: DomainRef,
  options: CallOptions,
): Promise<RunRecord | undefined> {
  try {
    const args = { dom, type: "element", uri, flags: ["config"] } as const;
    const { metadata } = await libvirt.call("domainGetMetadata", args, options);
    const vmiUid = /\bvmi=['"]([^'"]*)['"]/.exec(metadata)?.[1];
    const waits = /\bwaits=['"]yes['"]/.test(metadata);
    return vmiUid === undefined ? undefined : { vmiUid, waits };
  } catch (error) {
    if (isLibvirtError(error, "noDomainMetadata")) return undefined;
    throw error;
  }
}

/** Records that a domain has been started for a VMI. */
export async function writeRunRecord(
  libvirt: Caller,
  dom: DomainRef,
  { vmiUid, waits }: RunRecord,
  options: CallOptions,
): Promise<void> {
  const metadata = `<run vmi="${escaped(vmiUid)}"${waits ? ' waits="yes"' : ""}/>`;
  const flags = ["live", "config"] as const;
  const args = { dom, type: "element", metadata, key, uri, flags } as const;
  await libvirt.call("domainSetMetadata", args, options);
}

/** A UID contains none of these; any other value must not inject XML. */
function escaped(uid: string): string {
  return uid.replace(/[^\w.-]/g, "_");
}

/** Whether a record belongs to this VMI. */
export function isRecordOf(record: RunRecord, vmiUid: string): boolean {
  return record.vmiUid === escaped(vmiUid);
}
