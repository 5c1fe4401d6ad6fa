import type { Io } from "../io.ts";
import { findAnyVmi, vmiName } from "../local/find-vmi.ts";
import { localOptions, stateDirHelp } from "../local/local-options.ts";

/** Text of `virtkit stop --help`. */
export const help: string = `Usage: virtkit stop NAME [--now] [--state-dir DIR]

Asks a VMI's guest to shut down, and kills it when its grace period is over. "virtkit why NAME" works until
the VMI is removed with "virtkit rm NAME". Also stops a VMI whose record is gone or cannot be read;
NAME may then also be the UID of its Pod. Works even if the disk is full.

      --now            kill it at once
${stateDirHelp}`;

/** Returns when nothing of the VMI runs any more. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory, now } = localOptions(args, io);
  const { record, lost } = await findAnyVmi(stateDirectory, names, io);
  const { stopLostVmi, stopVmi } = await import("@virtkit/local");
  const options = now ? { gracePeriod: 0 } : {};
  if (record) await stopVmi(stateDirectory, record, options);
  else await stopLostVmi(stateDirectory, lost, options);
  const name = vmiName(record ?? lost);
  io.stderr.write(`${name} has stopped. Next: virtkit rm ${name}\n`);
  return 0;
}
