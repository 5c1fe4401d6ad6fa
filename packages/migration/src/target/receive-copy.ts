import {
  isSameHolder,
  mayDestroy,
  mayResume,
  type ProofOfEnd,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { MayRun } from "@virtkit/domain-manager";
import { isLibvirtError } from "@virtkit/domain-manager/libvirt";
import {
  type CopyState,
  copyState,
  describeCopy,
  destroyCopy,
  isAlive,
  isInPostCopy,
  runs,
} from "../copy/copy-state.ts";
import type { TargetState } from "../handover/index.ts";
import { MigrationError } from "../migration-error.ts";
import type { TargetParts } from "./receive-parts.ts";

/** The target's copy, as libvirt reports it now. */
export async function targetCopy({ libvirt, domain }: TargetParts): Promise<CopyState> {
  return await copyState(libvirt, domain.uuid);
}

/** What is known about the target's copy. Post-copy needs its source until libvirt says `migrated`. */
export function targetState(copy: CopyState): TargetState {
  if (!isAlive(copy)) return "absent";
  if (!runs(copy)) return "paused";
  return isInPostCopy(copy) ? "incomplete" : "whole";
}

/**
 * The only place where a target's vCPUs start to run: once, and only on a release of its own migration that is on
 * this disk. A guest that its user had paused stays paused.
 */
export async function resumeTarget(parts: TargetParts): Promise<void> {
  const { file, migration, resume, domain, at = () => {} } = parts;
  const { migrationUID } = migration;
  const release =
    file.heard() === "released" ? { migrationUID, outcome: "released" as const } : undefined;
  const refused = mayResume({ as: "target", migrationUID, release });
  if (refused) {
    throw new MigrationError("MIGRATION_REFUSED", refused.reason, { path: refused.refused });
  }
  if (file.received()?.paused || file.wasResumed) return;
  await at("resume.before");
  try {
    await resume.call("domainResume", { dom: { ...domain, id: -1 } }, { timeout: 40_000 });
  } catch (error) {
    const copy = await copyState(resume, domain.uuid);
    // It already runs: from an earlier release, or an earlier process.
    if (!runs(copy)) throw notResumed(error, describeCopy(copy));
  }
  await at("resume.after");
  file.noteResumed();
}

function notResumed(cause: unknown, found: string): MigrationError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const isLocked = why.includes('"write" lock');
  const check = isLocked
    ? "another process writes to its disk: make sure that the source's QEMU has ended, then settle again"
    : "settle again";
  const message = `the released copy is ${found} and does not resume: ${why}; ${check}`;
  return new MigrationError("MIGRATION_PHASE_FAILED", message, { path: "target/resume", cause });
}

/** Makes this target the holder of the guest in the grant. */
export async function claimTarget(
  { grant, migration, at = () => {} }: TargetParts,
  how: "released" | "postCopyComplete" | "claimed",
): Promise<MayRun> {
  const { migrationUID } = migration;
  const release = { migrationUID, outcome: "released" } as const;
  const evidence = how === "released" ? release : how === "claimed" ? undefined : how;
  await at("claim.before");
  const mayRun = await grant.claim(evidence);
  await at("claim.after");
  return mayRun;
}

/**
 * Whether a copy runs, or may have run and is only stopped. One that libvirt was to start in post-copy has not run as
 * long as libvirt says that it is paused by the migration.
 */
export function mayHaveRun({ file }: TargetParts, copy: CopyState): boolean {
  if (!isAlive(copy)) return false;
  return runs(copy) || (file.wasStarted && copy.reason !== "migration");
}

/** Ends a copy that never runs, with the definition that *prepare* left. */
export async function destroyTarget({ libvirt, domain }: TargetParts): Promise<void> {
  const { dom, state } = await copyState(libvirt, domain.uuid);
  if (state === "absent") return;
  await destroyCopy(libvirt, dom);
  try {
    await libvirt.call("domainUndefine", { dom });
  } catch (error) {
    // A copy without a definition is gone with its process.
    if (!isLibvirtError(error) || error.code !== "LIBVIRT_REMOTE") throw error;
  }
}

/** Why a released copy will never run; undefined if it runs, did run, or can. */
export async function whyLost({ libvirt, domain, file }: TargetParts): Promise<string | undefined> {
  if (file.wasResumed) return undefined;
  const copy = await copyState(libvirt, domain.uuid);
  if (isAlive(copy)) return undefined;
  return `the guest was released to this copy, which is ${describeCopy(copy)}: its memory is lost; once both copies are proven to have ended, the VM starts cold`;
}

/** Why a copy that has heard nothing may not be destroyed; undefined if it may. */
export function whyKept(
  { grant: { holder } }: TargetParts,
  grant: ReadGrant,
  proofs: readonly ProofOfEnd[],
): string | undefined {
  const request = { holder, grant, live: true, released: false, proofs, by: "agent" } as const;
  return mayDestroy(request)?.reason;
}

/** Whether a grant says this about exactly this handover and this target. */
export function isHandedTo(
  { grant: { holder }, migration }: TargetParts,
  grant: ReadGrant,
  state: "Released" | "Committed",
): boolean {
  return (
    grant.state === state &&
    grant.migrationUID === migration.migrationUID &&
    grant.vmiUID === migration.vmiUID &&
    grant.epoch === migration.epoch &&
    isSameHolder(grant.target, holder)
  );
}
