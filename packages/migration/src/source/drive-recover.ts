import { type Caller, copyState, describeCopy } from "../copy/copy-state.ts";
import { MigrationError } from "../migration-error.ts";
import { type DrivePlan, defaultPatience, type SourceParts } from "./drive-parts.ts";
import { inPhase } from "./drive-phase.ts";
import { type SettledSource, settleSource } from "./drive-settle.ts";
import { finishPostCopy } from "./finish-post-copy.ts";

/**
 * Goes on with a post-copy whose stream broke: the phases again, over a new stream, with what the target
 * still misses. While it fails nothing is destroyed; it may be tried again.
 *
 * @throws MigrationError where the source is not in a post-copy that failed, or a phase failed.
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
    const message = `only a post-copy that failed is recovered; the decision is ${record?.outcome ?? "open"} and the source ${describeCopy(copy)}`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "source/begin" });
  }
  const { dom } = copy;
  const paused = decision.start()?.paused ?? false;
  // Without the protection against changes libvirt refuses to recover a migration of five phases.
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
