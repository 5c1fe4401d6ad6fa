import { type Clock, realClock, until } from "@virtkit/api/clock";
import { describeError, silentLog } from "@virtkit/api/observe";
import { type DomainRef, isLibvirtError } from "@virtkit/domain-manager/libvirt";
import { copyState, isAlive, isInPostCopy } from "../copy/copy-state.ts";
import { MigrationError } from "../migration-error.ts";
import { defaultPatience, type SourceParts } from "./drive-parts.ts";

/** What {@link endJob} works with, in addition to the parts. */
export interface EndJobOptions {
  /**
   * Whether *perform* may be in progress: it was called, by this process or an earlier one, and has not answered.
   * Default true.
   */
  readonly isPerforming?: boolean | undefined;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds between two checks. */
const interval = 100;
/** QEMU obeys a cancel within milliseconds. If a guest is paused for this many checks, its *perform* is over. */
const manyLooks = 20;

/**
 * Ends libvirt's job of an aborted migration, so that the source can continue. A *perform* in progress is
 * stopped and left to end the job itself: libvirt lets *confirm* end the job that a *perform* works with, and
 * then libvirtd crashes (9.0: a segmentation fault in `qemuMigrationSrcRun` or `qemuMigrationAnyFetchStats`).
 * The same holds for a job whose connection is gone. *Confirm* is called only if *perform* was never called,
 * has answered, or has evidently ended although its reply was lost. A guest that has switched to post-copy is left
 * alone: its job does not end before its memory has moved.
 *
 * @throws MigrationError if the job does not end: call it again.
 */
export async function endJob(
  parts: SourceParts,
  { isPerforming = true, clock = realClock, signal }: EndJobOptions = {},
): Promise<void> {
  const { libvirt, domain, patience = defaultPatience } = parts;
  let hasAborted = false;
  let stoodStill = 0;
  const look = async (): Promise<"ended" | "performed" | undefined> => {
    const copy = await copyState(libvirt, domain);
    if (!isAlive(copy) || isInPostCopy(copy)) return "ended";
    if (!isPerforming) return "performed";
    const type = await jobType(parts, copy.dom);
    if (type === "none") return "ended";
    if (type !== "unbounded") {
      stoodStill = 0;
      return undefined;
    }
    if (!hasAborted) hasAborted = await abortJob(parts, copy.dom);
    stoodStill = copy.state === "paused" ? stoodStill + 1 : 0;
    return stoodStill > manyLooks ? "performed" : undefined;
  };
  const timeout = Math.max(patience, 2 * manyLooks * interval);
  const found = await until(look, { clock, interval, timeout, signal });
  if (found === "performed") return await confirmCancelled(parts);
  if (found === "ended") return;
  const message = `the source should continue, but libvirt did not end its job within ${timeout} ms`;
  throw new MigrationError("MIGRATION_PHASE_FAILED", message, { path: "source/perform" });
}

/** For example `unbounded`; undefined if libvirt does not report it now. */
async function jobType(
  { libvirt, log = silentLog }: SourceParts,
  dom: DomainRef,
): Promise<string | undefined> {
  try {
    return String((await libvirt.call("domainGetJobStats", { dom })).type);
  } catch (error) {
    throwUnlessRemote(error);
    log.debug(
      { error: describeError(error) },
      "migration: libvirt does not report the state of its job",
    );
    return undefined;
  }
}

async function abortJob(
  { libvirt, log = silentLog }: SourceParts,
  dom: DomainRef,
): Promise<boolean> {
  try {
    await libvirt.call("domainAbortJob", { dom });
    return true;
  } catch (error) {
    throwUnlessRemote(error);
    // It has just ended, or cannot be stopped in this phase; the next check will show which.
    log.debug({ error: describeError(error) }, "migration: no job was stopped");
    return false;
  }
}

async function confirmCancelled(parts: SourceParts): Promise<void> {
  const { libvirt, domain, patience = defaultPatience } = parts;
  const { dom } = await copyState(libvirt, domain);
  try {
    const flags = ["live", "changeProtection"] as const;
    const cookie = new Uint8Array();
    const args = { dom, params: {}, cookie, flags, cancelled: true };
    await libvirt.call("domainMigrateConfirm", args, { timeout: patience });
  } catch (error) {
    // It is not being migrated: its state says what is left to do.
    throwUnlessRemote(error);
  }
}

/** A rejection by libvirt is an answer, too; a lost connection is not. */
function throwUnlessRemote(error: unknown): void {
  if (!isLibvirtError(error) || error.code !== "LIBVIRT_REMOTE") throw error;
}
