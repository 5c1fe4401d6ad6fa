import { describeError, type Observers } from "@virtkit/api/observe";
import type { MigrationReport } from "@virtkit/launcher/client";
import { connectVmi } from "./vmi-life.ts";
import type { VmiRecord } from "./vmi-record.ts";

/** Milliseconds for a launcher to answer. */
const patience = 5_000;

/**
 * Why the move of a guest waits: the stream of its post-copy broke. Says what is needed, and why the last attempt to
 * recover it failed. Undefined if the report is not about a broken post-copy, or that is over.
 */
export function whyBroken(
  report: Pick<MigrationReport, "outcome" | "settled" | "why">,
): string | undefined {
  const { outcome, settled, why } = report;
  return outcome === "broken" && settled === undefined ? why : undefined;
}

/**
 * Asks the source's launcher of a move for {@link whyBroken}; undefined if the guest does not move. One that does not
 * answer has nothing to report.
 */
export async function askWhyBroken(
  stateDirectory: string,
  record: VmiRecord,
  { log }: Pick<Observers, "log"> = {},
): Promise<string | undefined> {
  if (!record.move) return undefined;
  const { migrationUID, source: podUid } = record.move;
  try {
    const side = { ...record, podUid };
    await using launcher = await connectVmi(stateDirectory, side, { readyTimeout: 0 });
    return whyBroken(await launcher.followMigration({ migrationUID }, { timeout: patience }));
  } catch (error) {
    log?.debug({ error: describeError(error) }, "the launcher does not report on its move");
    return undefined;
  }
}
