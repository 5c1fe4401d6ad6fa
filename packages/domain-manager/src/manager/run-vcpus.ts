import type { DomainRef } from "../libvirt/event-hub.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { Caller } from "./guest-domain.ts";
import type { MayRun } from "./may-run.ts";
import type { RunRight } from "./run-right.ts";

/**
 * The only place where vCPUs start to run. Both functions take the proof and check it again right
 * before the call, so that neither an event in between nor a forgetful caller runs a guest twice.
 */
export interface VcpuSwitch {
  readonly libvirt: Caller;
  readonly right: RunRight;
  readonly mayRun: MayRun;
  readonly dom: DomainRef;
}

/** Starts a domain that is defined. */
export async function startVcpus(
  { libvirt, right, mayRun, dom }: VcpuSwitch,
  { paused }: { readonly paused: boolean },
  options: CallOptions,
): Promise<DomainRef> {
  right.check(mayRun);
  const flags = paused ? (["paused"] as const) : [];
  return (await libvirt.call("domainCreate", { dom, flags }, options)).dom;
}

/** Resumes a paused guest. */
export async function resumeVcpus(
  { libvirt, right, mayRun, dom }: VcpuSwitch,
  options: CallOptions,
): Promise<void> {
  right.check(mayRun);
  await libvirt.call("domainResume", { dom }, options);
}
