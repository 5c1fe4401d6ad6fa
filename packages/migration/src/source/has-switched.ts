import { type CopyState, describeCopy, isInPostCopy, runs } from "../copy/copy-state.ts";
import { streamState } from "../copy/stream-state.ts";
import { MigrationError } from "../migration-error.ts";
import type { SourceParts } from "./drive-parts.ts";

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
