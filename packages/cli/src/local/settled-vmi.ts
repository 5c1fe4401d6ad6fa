import type { VmiRecord } from "@virtkit/local";
import type { Io } from "../io.ts";
import { tellBrokenMove } from "./broken-move.ts";
import { vmiName } from "./vmi-name.ts";

/**
 * A VMI without an abandoned move: if its `virtkit migrate` was killed, the move is finished first, which takes
 * as long as the guest still moves. A move that somebody handles is left alone.
 */
export async function settledVmi(
  stateDirectory: string,
  record: VmiRecord,
  { stderr }: Pick<Io, "stderr">,
): Promise<VmiRecord> {
  if (!record.move) return record;
  const { isMoveOrphaned, settleMove, whyBroken } = await import("@virtkit/local");
  if (!isMoveOrphaned(record)) return record;
  const name = vmiName(record);
  stderr.write(`The process that moved ${name} has ended; finishing the move.\n`);
  const onReport = tellBrokenMove(name, whyBroken, { stderr });
  const settled = await settleMove({ stateDirectory, record, onReport });
  if (!settled) return record;
  const { outcome, why } = settled.last;
  stderr.write(`${name} has ${outcome}${why === undefined ? "" : `: ${why}`}.\n`);
  return settled.record;
}
