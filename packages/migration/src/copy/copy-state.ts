import {
  type CallOptions,
  type DomainRef,
  isLibvirtError,
  type Libvirt,
  stateReason,
} from "@virtkit/domain-manager/libvirt";

/** What is called of a connection to libvirt. */
export type Caller = Pick<Libvirt, "call">;

/** One copy of a guest, as its libvirt has it now. */
export interface CopyState {
  readonly dom: DomainRef;
  /** As `paused`; `absent` where libvirt does not know the domain. */
  readonly state: string;
  /** As `migration`. */
  readonly reason: string;
}

/** Asks libvirt for a copy by its UUID. */
export async function copyState(
  libvirt: Caller,
  uuid: string,
  options: CallOptions = {},
): Promise<CopyState> {
  try {
    const { dom } = await libvirt.call("domainLookupByUuid", { uuid }, options);
    const { state, reason } = await libvirt.call("domainGetState", { dom }, options);
    return { dom, state: String(state), reason: stateReason(state, reason) };
  } catch (error) {
    if (!isLibvirtError(error, "noDomain")) throw error;
    return { dom: { name: "", uuid, id: -1 }, state: "absent", reason: "unknown" };
  }
}

/** Whether there is a QEMU process with the guest's memory. */
export function isAlive({ state }: CopyState): boolean {
  return state === "running" || state === "blocked" || state === "paused" || state === "shutdown";
}

/** Whether the guest's vCPUs run. */
export function runs({ state }: CopyState): boolean {
  return state === "running" || state === "blocked";
}

/** Whether its memory is spread over two hosts, by post-copy. */
export function isInPostCopy({ reason }: CopyState): boolean {
  return reason === "postcopy" || reason === "postcopyFailed";
}

/** As `paused (migration)`, for people. */
export function describeCopy({ state, reason }: CopyState): string {
  return state === "absent" ? "absent" : `${state} (${reason})`;
}

/** Ends a copy. What is gone already is no error. */
export async function destroyCopy(
  libvirt: Caller,
  dom: DomainRef,
  options: CallOptions = {},
): Promise<void> {
  try {
    await libvirt.call("domainDestroy", { dom }, options);
  } catch (error) {
    if (isLibvirtError(error, "noDomain")) return;
    // Not running: what was to end has ended.
    if (!isLibvirtError(error, "operationInvalid")) throw error;
  }
}
