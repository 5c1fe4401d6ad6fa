import { describeError, silentLog } from "@virtkit/api/observe";
import type { DomainRef } from "@virtkit/domain-manager/libvirt";
import { type CopyState, describeCopy, isInPostCopy, runs } from "../copy/copy-state.ts";
import { MigrationError } from "../migration-error.ts";
import { defaultPatience, type SourceParts } from "./drive-parts.ts";

/** What QEMU calls a post-copy whose stream is gone. */
export const brokenStream = "postcopy-paused";

/** What the source's QEMU says of its stream, such as `postcopy-active` or `none`; undefined if it does not answer. */
export async function streamState(
  { libvirt, patience = defaultPatience, log = silentLog }: SourceParts,
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

/**
 * Whether the source has switched to post-copy. A running one has not. Of a paused one libvirt may say `user` or `migration`
 * after the switch, too, so QEMU is asked. No answer is not evidence.
 *
 * @throws MigrationError if QEMU does not say: settle it again.
 */
export async function hasSwitched(parts: SourceParts, copy: CopyState): Promise<boolean> {
  if (isInPostCopy(copy)) return true;
  if (runs(copy)) return false;
  const stream = await streamState(parts, copy.dom);
  if (stream !== undefined) return stream.startsWith("postcopy");
  const message = `the source is ${describeCopy(copy)}, and its QEMU does not say whether it has switched to post-copy; nothing was changed: settle it again`;
  throw new MigrationError("MIGRATION_PHASE_FAILED", message, { path: "source/switch" });
}
