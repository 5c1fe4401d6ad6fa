import type { VmiRecord } from "@virtkit/local";
import type { Io } from "../io.ts";
import { vmiName } from "./vmi-name.ts";

/**
 * A VMI with no move that nobody sees to: one whose `virtkit migrate` was killed is brought to its end first, which
 * takes as long as the guest still moves. One that somebody sees to stays as it is.
 */
export async function settledVmi(
  stateDirectory: string,
  record: VmiRecord,
  { stderr }: Pick<Io, "stderr">,
): Promise<VmiRecord> {
  if (!record.move) return record;
  const { isMoveOrphaned, settleMove } = await import("@virtkit/local");
  if (!isMoveOrphaned(record)) return record;
  const name = vmiName(record);
  stderr.write(`The process that moved ${name} has ended; finishing the move.\n`);
  const settled = await settleMove({ stateDirectory, record });
  if (!settled) return record;
  const { outcome, why } = settled.last;
  stderr.write(`${name} has ${outcome}${why === undefined ? "" : `: ${why}`}.\n`);
  return settled.record;
}
