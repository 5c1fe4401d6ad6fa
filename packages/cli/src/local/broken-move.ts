import type { MigrationReport } from "@virtkit/local";
import type { Io } from "../io.ts";
import { plain } from "./plain.ts";

/** Why the post-copy of a move is broken, and what to do about it. */
export function brokenMoveText(why: string, name: string): string {
  return `its post-copy is broken: the source reports: ${plain(why)}; its launcher tries again by itself. Each copy has a part of the guest's memory: only if that is lost, "virtkit rm --now ${name}" ends both`;
}

/** Writes a line for each new reason why the post-copy of a move is broken, as its source reports them. */
export function tellBrokenMove(
  name: string,
  whyBroken: (report: MigrationReport) => string | undefined,
  { stderr }: Pick<Io, "stderr">,
): (report: MigrationReport) => void {
  let told: string | undefined;
  return (report) => {
    if (report.role !== "source") return;
    const why = whyBroken(report);
    if (why !== undefined && why !== told) stderr.write(`${name}: ${brokenMoveText(why, name)}.\n`);
    told = why;
  };
}
