import { describeError, type Observers, silentLog } from "@virtkit/api/observe";
import type { DomainRef } from "@virtkit/domain-manager/libvirt";
import type { Caller } from "./copy-state.ts";

/** What QEMU calls a post-copy whose stream is gone. */
export const brokenStream = "postcopy-paused";

/** What {@link streamState} works with. */
export interface StreamParts extends Pick<Observers, "log"> {
  readonly libvirt: Caller;
  /** Milliseconds. Default 10 s. */
  readonly patience?: number;
}

/** What a copy's QEMU says of its stream, such as `postcopy-active` or `none`; undefined if it does not answer. */
export async function streamState(
  { libvirt, patience = 10_000, log = silentLog }: StreamParts,
  dom: DomainRef,
): Promise<string | undefined> {
  try {
    const command = JSON.stringify({ execute: "query-migrate" });
    const options = { timeout: patience };
    const { result } = await libvirt.call("qemuMonitorCommand", { dom, command }, options);
    const { status = "none" } = Object(Object(JSON.parse(result)).return);
    return typeof status === "string" ? status : undefined;
  } catch (error) {
    log.info(
      { error: describeError(error) },
      "migration: QEMU does not report the state of its stream",
    );
    return undefined;
  }
}
