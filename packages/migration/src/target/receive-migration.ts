import { describeError, silentLog } from "@virtkit/api/observe";
import { type Domain, parseDomain } from "@virtkit/converter";
import type { MayRun } from "@virtkit/domain-manager";
import { type Flag, isLibvirtError } from "@virtkit/domain-manager/libvirt";
import {
  assertSameMigration,
  type FinishRequest,
  type MigrationIdentity,
  type PhaseAnswer,
  type PrepareRequest,
  type TargetEnd,
  type TargetState,
} from "../handover/index.ts";
import { MigrationError } from "../migration-error.ts";
import {
  claimTarget,
  destroyTarget,
  isHandedTo,
  mayHaveRun,
  resumeTarget,
  targetCopy,
  targetState,
} from "./receive-copy.ts";
import type { TargetParts, TargetSeam } from "./receive-parts.ts";

/** What a source may ask of the target's libvirt; nothing else gets through. */
const allowed: readonly Flag<"migrate">[] = [
  ...(["live", "persistDestination", "changeProtection", "unsafe", "postcopy"] as const),
  ...(["postcopyResume", "tls", "parallel", "autoConverge", "compressed"] as const),
  ...(["nonSharedIncremental", "nonSharedDisk", "zerocopy", "abortOnError", "paused"] as const),
];

/** How a target's part of a move ended. */
export type ReceivedOutcome =
  | { readonly target: "runs"; readonly mayRun: MayRun }
  | { readonly target: "ended" }
  | { readonly target: "failed"; readonly error: unknown };

/**
 * The target of one migration. It lets the source's calls through to its own libvirt only for that
 * migration and that domain, and its copy stays paused until a release.
 */
export class MigrationReceiver implements TargetEnd {
  /** Settles when the copy runs and is claimed, has ended, or needs `settleTarget`. */
  readonly outcome: Promise<ReceivedOutcome>;
  readonly #parts: TargetParts;
  readonly #at: (seam: TargetSeam) => Promise<void> | void;
  #finished = false;
  /** A *finish* that libvirt has not answered. Where QEMU does not answer it never does, and must not be called again. */
  #finishing: Promise<PhaseAnswer> | undefined;
  /** Whether a recovery was prepared. */
  #hasAttempt = false;
  #settle: (outcome: ReceivedOutcome) => void = () => {};

  constructor(parts: TargetParts) {
    this.#parts = parts;
    this.#at = parts.at ?? (() => {});
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  async prepare(request: PrepareRequest): Promise<PhaseAnswer> {
    const { migration, cookie, flags, paused, connections, compression } = request;
    const { libvirt, domain, listen, file, destinationXml = (sent) => sent } = this.#parts;
    this.#assertOwn(migration);
    this.#assertUndecided();
    assertDomain(request.xml, domain);
    const used = checkFlags(flags);
    this.#assertEncrypted(used);
    const disks = this.#disks(request.disks);
    const resumes = used.includes("postcopyResume");
    if (resumes) await this.#forgetAttempt(used);
    // A copy that is recovered has its devices and files: libvirt only reads the name, and nothing is written
    // again.
    const xml = resumes ? request.xml : await destinationXml(request.xml);
    file.receive({ ...this.#parts.migration, paused });
    await this.#at("prepare.before");
    const answer = await this.#phase("prepare", () =>
      libvirt.call("domainMigratePrepare", {
        params: {
          ...{ migrate_uri: listen, destination_name: domain.name, destination_xml: xml },
          ...(connections !== undefined && { "parallel.connections": connections }),
          ...(compression !== undefined && { compression }),
          ...disks,
        },
        cookie,
        flags: used,
      }),
    );
    if (resumes) this.#hasAttempt = true;
    // The copy of a recovery was already received, and is kept.
    else await this.#phase("prepare", () => this.#keep(xml));
    await this.#at("prepare.after");
    // An abort that came meanwhile may have found no copy to end.
    if (file.heard() === "aborted") await this.#phase("prepare", () => this.#end());
    this.#assertUndecided();
    return { cookie: answer.cookie };
  }

  /**
   * Has libvirt forget the last attempt to recover, whose stream never came or broke again: it accepts no other one
   * before. A *finish* that is cancelled with this flag leaves the copy as it is.
   */
  async #forgetAttempt(flags: readonly Flag<"migrate">[]): Promise<void> {
    if (!this.#hasAttempt || this.#finishing) return;
    const { libvirt, domain, log = silentLog } = this.#parts;
    try {
      await libvirt.call("domainMigrateFinish", {
        params: { destination_name: domain.name },
        cookie: new Uint8Array(),
        flags: flags.filter((flag) => flag !== "persistDestination"),
        cancelled: true,
      });
    } catch (error) {
      // libvirt answers by an error in any case; whether it has forgotten, the next prepare finds out.
      log.debug({ error: describeError(error) }, "migration: an attempt to recover was forgotten");
    }
    this.#hasAttempt = false;
  }

  /** Which of this target's disks the source may write: those that the target itself has copied, and no others. */
  #disks(
    wanted: readonly string[] | undefined,
  ): { readonly migrate_disks: readonly string[]; readonly disks_uri: string } | undefined {
    if (wanted === undefined) return undefined;
    const { copied } = this.#parts;
    const other = wanted.find((name) => !copied?.disks.includes(name));
    if (copied && other === undefined) {
      return { migrate_disks: wanted, disks_uri: copied.listen };
    }
    const message = `disks has ${JSON.stringify(other ?? wanted[0])}, which this target does not accept from its source`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "prepare.disks" });
  }

  async finish({ migration, cookie, flags }: FinishRequest): Promise<PhaseAnswer> {
    this.#assertOwn(migration);
    this.#assertUndecided();
    const used = checkFlags(flags);
    if (!used.includes("paused")) await this.#assertCommitted(used);
    this.#finishing ??= this.#finish(used, cookie).finally(() => {
      this.#finishing = undefined;
    });
    return await this.#finishing;
  }

  async #finish(used: readonly Flag<"migrate">[], cookie: Uint8Array): Promise<PhaseAnswer> {
    const { libvirt, domain, file } = this.#parts;
    await this.#at("finish.before");
    if (!used.includes("paused")) file.noteStarted();
    const answer = await this.#phase("finish", () =>
      libvirt.call("domainMigrateFinish", {
        params: { destination_name: domain.name },
        cookie,
        flags: used.filter((flag) => flag !== "persistDestination"),
        cancelled: false,
      }),
    );
    this.#finished = true;
    await this.#at("finish.after");
    if (!used.includes("paused")) void this.#conclude("postCopyComplete");
    return { cookie: answer.cookie };
  }

  /**
   * Keeps the domain as it was prepared, while the guest still runs at the source, so it does not add to the
   * downtime. With `persistDestination` libvirt would keep what the source has put into the cookie, with
   * paths of the source's choice. A copy that never runs is undefined when it is destroyed.
   */
  async #keep(xml: string): Promise<void> {
    await this.#parts.libvirt.call("domainDefineXml", { xml });
  }

  async release(migration: MigrationIdentity): Promise<void> {
    this.#assertOwn(migration);
    await this.#at("release.before");
    this.#parts.file.hear("released");
    void this.#conclude("released");
    await this.#at("release.after");
  }

  async abort(migration: MigrationIdentity): Promise<void> {
    this.#assertOwn(migration);
    const { file } = this.#parts;
    if (mayHaveRun(this.#parts, await targetCopy(this.#parts))) {
      const message = "the copy runs, or has run; it is not destroyed";
      throw new MigrationError("MIGRATION_REFUSED", message, { path: "destroy-unnamed" });
    }
    file.hear("aborted");
    await this.#phase("finish", () => this.#end());
    this.#settle({ target: "ended" });
  }

  async state(migration: MigrationIdentity): Promise<TargetState> {
    this.#assertOwn(migration);
    return targetState(await targetCopy(this.#parts));
  }

  /** Ends a copy that never runs. */
  async #end(): Promise<void> {
    // libvirt would wait for a finish that hangs before it cancels; a copy can be ended all the same.
    if (!this.#finished && !this.#finishing) await this.#cancel();
    await destroyTarget(this.#parts);
  }

  /** Ends the job of a reception in progress, and its copy with it. */
  async #cancel(): Promise<void> {
    const { libvirt, domain, log = silentLog } = this.#parts;
    try {
      await libvirt.call("domainMigrateFinish", {
        params: { destination_name: domain.name },
        cookie: new Uint8Array(),
        flags: ["live", "persistDestination"],
        cancelled: true,
      });
    } catch (error) {
      // libvirt reports by an error that the domain is gone, which is what was asked for.
      log.debug({ error: describeError(error) }, "migration: the reception was cancelled");
    }
  }

  /** Runs the copy and claims it, without blocking the caller. */
  async #conclude(how: "released" | "postCopyComplete"): Promise<void> {
    const { log = silentLog } = this.#parts;
    try {
      if (how === "released") await resumeTarget(this.#parts);
      this.#settle({ target: "runs", mayRun: await claimTarget(this.#parts, how) });
    } catch (error) {
      log.error({ error: describeError(error) }, "migration: the target must be settled");
      this.#settle({ target: "failed", error });
    }
  }

  #assertOwn(migration: MigrationIdentity): void {
    assertSameMigration(this.#parts.migration, migration);
  }

  /** A released copy runs, and an aborted one has ended: no phase touches it again. */
  #assertUndecided(): void {
    const heard = this.#parts.file.heard();
    if (heard === undefined) return;
    const message = `the migration was already ${heard}; nothing was changed`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "first-decision" });
  }

  /** The source has no say in it: a source with other instructions would send memory unencrypted. */
  #assertEncrypted(flags: readonly Flag<"migrate">[]): void {
    const { encrypted } = this.#parts;
    const found = flags.includes("tls");
    if (encrypted === undefined || encrypted === found) return;
    const [sends, takes] = found ? ["encrypted", "clear"] : ["clear", "encrypted"];
    const message = `the source would send ${sends} data, but this target accepts only ${takes} data: disableTLS in the migration configuration was changed, or the source's launcher is from an earlier release; migrate again`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "prepare.flags" });
  }

  /**
   * Without `paused` libvirt starts the guest by itself, which only post-copy may. The flag is the source's word;
   * that the source never runs again is what the grant says.
   */
  async #assertCommitted(flags: readonly Flag<"migrate">[]): Promise<void> {
    if (!flags.includes("postcopy")) {
      const message = "finish must have the flag paused: a target runs only on a release";
      throw new MigrationError("MIGRATION_REFUSED", message, { path: "finish.flags" });
    }
    const grant = await this.#phase("finish", () => this.#parts.grant.read());
    if (isHandedTo(this.#parts, grant, "Committed")) return;
    const message = `finish asks for a running copy, but the run grant does not commit this migration to post-copy: it is ${grant.state}; nothing was changed`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "commit-known" });
  }

  async #phase<T>(name: "prepare" | "finish", act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const why = isLibvirtError(error) || error instanceof Error ? error.message : String(error);
      const message = `${name} failed at the target: ${why}`;
      const path = `target/${name}`;
      throw new MigrationError("MIGRATION_PHASE_FAILED", message, { path, cause: error });
    }
  }
}

function checkFlags(flags: readonly string[]): readonly Flag<"migrate">[] {
  return flags.map((name) => {
    const flag = allowed.find((each) => each === name);
    if (flag) return flag;
    const message = `flags has ${JSON.stringify(name)}, which a target does not accept`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "flags" });
  });
}

/** The domain must be this launcher's, by name and UUID. */
function assertDomain(xml: string, expected: TargetParts["domain"]): void {
  const found = readDomain(xml);
  for (const field of ["name", "uuid"] as const) {
    if (found[field] === expected[field]) continue;
    const message = `the domain's ${field} is ${JSON.stringify(found[field])}, but this launcher is for ${JSON.stringify(expected[field])}`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: `xml.${field}` });
  }
}

function readDomain(xml: string): Domain {
  try {
    return parseDomain(xml);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `the XML does not describe a domain: ${why}`;
    throw new MigrationError("MIGRATION_INPUT_INVALID", message, { path: "xml", cause });
  }
}
