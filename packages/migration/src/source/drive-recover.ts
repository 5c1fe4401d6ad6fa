import { type Caller, copyState, describeCopy } from "../copy/copy-state.ts";
import { brokenStream, streamState } from "../copy/stream-state.ts";
import { MigrationError } from "../migration-error.ts";
import { type DrivePlan, defaultPatience, type SourceParts } from "./drive-parts.ts";
import { inPhase } from "./drive-phase.ts";
import { type SettledSource, settleSource } from "./drive-settle.ts";
import { finishPostCopy } from "./finish-post-copy.ts";

/**
 * Resumes a post-copy migration whose stream broke: repeats the phases over a new stream, with the memory that the
 * target still lacks. A failure destroys nothing; try again on a new `long` connection, because libvirt forgets an
 * attempt that got no further than *begin* only when the connection that began it is closed.
 *
 * @throws MigrationError if the stream of the source is not broken, the target has no copy that lacks memory, or a
 *   phase failed.
 */
export async function recoverPostCopy(
  { flags: planned, params, destinationXml = (xml) => xml }: DrivePlan,
  parts: SourceParts & { readonly long: Caller },
): Promise<SettledSource> {
  const { libvirt, long, domain, decision, target, migration } = parts;
  const { patience = defaultPatience } = parts;
  const copy = await copyState(libvirt, domain);
  const record = decision.read();
  if (record?.outcome !== "committed" || copy.reason !== "postcopyFailed") {
    const message = `only a failed post-copy can be recovered; the decision is ${record?.outcome ?? "open"} and the source ${describeCopy(copy)}`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "source/begin" });
  }
  // libvirt also reports a failure if it has only lost its client: a *perform* may be in progress.
  const stream = await streamState(parts, copy.dom);
  if (stream !== brokenStream) {
    const message = `the source's QEMU calls its stream ${stream ?? "nothing"}, and only ${brokenStream} can be recovered; nothing was changed`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "source/begin" });
  }
  // While the link is down, no stream is tried: QEMU 7.2 waits forever in `postcopy-recover` if its stream is accepted
  // and then breaks before both sides have agreed on what is missing.
  const state = await inPhase("target/prepare", () =>
    target.state(migration, { timeout: patience }),
  );
  if (state === "absent" || state === "whole") {
    const message = `the target's copy is ${state}: there is nothing to recover`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "target/prepare" });
  }
  const { dom } = copy;
  const paused = decision.start()?.paused ?? false;
  // Without the change protection, libvirt refuses to recover a five-phase migration.
  const flags = [
    ...new Set([...planned, "changeProtection", "postcopy", "postcopyResume"] as const),
  ];
  const begun = await inPhase("source/begin", () =>
    long.call("domainMigrateBegin", { dom, params, flags }),
  );
  const xml = destinationXml(begun.xml);
  const prepared = await inPhase("target/prepare", () =>
    target.prepare(
      { migration, xml, cookie: begun.cookie, flags, paused },
      { timeout: 6 * patience },
    ),
  );
  const performed = await inPhase("source/perform", () =>
    long.call("domainMigratePerform", {
      dom,
      params: { ...params, destination_xml: xml },
      cookie: prepared.cookie,
      flags,
    }),
  );
  const cookie = await finishPostCopy(parts, {
    cookie: performed.cookie,
    flags: paused ? [...flags, "paused"] : flags,
  });
  await inPhase("source/confirm", () =>
    long.call("domainMigrateConfirm", { dom, params: {}, cookie, flags, cancelled: false }),
  );
  return await settleSource(parts);
}
