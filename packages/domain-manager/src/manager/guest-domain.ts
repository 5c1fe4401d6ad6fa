import type { DomainRef } from "../libvirt/event-hub.ts";
import type { Libvirt } from "../libvirt/libvirt.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import { stateReason } from "../libvirt/protocol/enums.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";

/** The calls of a connection that are used. */
export type Caller = Pick<Libvirt, "call">;

/** A domain as libvirt has it now. */
export interface FoundDomain {
  readonly dom: DomainRef;
  /** Such as `running`; a number for a state that is newer than this client. */
  readonly state: string | number;
  /** Such as `shutdown`. */
  readonly reason: string;
}

/** Name of a guest's domain. */
export function domainName({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}_${name}`;
}

/** Asks libvirt for a domain and its state; undefined if there is none. */
export async function findDomain(
  libvirt: Caller,
  name: string,
  options: CallOptions,
): Promise<FoundDomain | undefined> {
  try {
    const { dom } = await libvirt.call("domainLookupByName", { name }, options);
    const { state, reason } = await libvirt.call("domainGetState", { dom }, options);
    return { dom, state, reason: stateReason(state, reason) };
  } catch (error) {
    if (isLibvirtError(error, "noDomain")) return undefined;
    throw error;
  }
}

/** Whether QEMU runs, regardless of its vCPUs. */
export function isActive({ state }: FoundDomain): boolean {
  return state !== "shutoff" && state !== "crashed" && state !== "noState";
}
