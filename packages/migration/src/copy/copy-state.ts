import {
  type CallOptions,
  type DomainRef,
  isLibvirtError,
  type Libvirt,
  stateReason,
} from "@virtkit/domain-manager/libvirt";

/** The calls to libvirt that are used. */
export type Caller = Pick<Libvirt, "call">;

/** One copy of a guest, as its libvirt reports it now. */
export interface CopyState {
  readonly dom: DomainRef;
  /** For example `paused`; `absent` if libvirt does not know the domain. */
  readonly state: string;
  /** For example `migration`. */
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

/** Whether the guest's vCPUs are running. */
export function runs({ state }: CopyState): boolean {
  return state === "running" || state === "blocked";
}

/** Whether its memory is spread over two hosts, by post-copy. */
export function isInPostCopy({ reason }: CopyState): boolean {
  return reason === "postcopy" || reason === "postcopyFailed";
}

/** Whether it ended because all of its memory is at the target. */
export function hasLeft({ state, reason }: CopyState): boolean {
  return state === "shutoff" && reason === "migrated";
}

/** As `paused (migration)`, for people. */
export function describeCopy({ state, reason }: CopyState): string {
  return state === "absent" ? "absent" : `${state} (${reason})`;
}

/** Ends a copy. It is not an error if the copy is already gone. */
export async function destroyCopy(
  libvirt: Caller,
  dom: DomainRef,
  options: CallOptions = {},
): Promise<void> {
  try {
    await libvirt.call("domainDestroy", { dom }, options);
  } catch (error) {
    if (isLibvirtError(error, "noDomain")) return;
    // Not running: it has already ended.
    if (!isLibvirtError(error, "operationInvalid")) throw error;
  }
}
