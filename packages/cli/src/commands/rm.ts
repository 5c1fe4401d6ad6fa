import type { Io } from "../io.ts";
import { findAnyVmi, vmiName } from "../local/find-vmi.ts";
import { localOptions, stateDirHelp } from "../local/local-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit rm --help`. */
export const help: string = `Usage: virtkit rm NAME [--force | --now] [--state-dir DIR]

Removes a VMI that has stopped: its files, network and cgroup. Also removes what a killed "virtkit run" left
behind, and a VMI whose record is gone or cannot be read; NAME may then also be the UID of its Pod. Refuses
to remove a running VMI.

      --force, --now   kill the VMI if it runs
${stateDirHelp}`;

/** Refuses a running guest, unless it is to be killed. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory, now } = localOptions(args, io);
  const { record, lost } = await findAnyVmi(stateDirectory, names, io);
  const local = await import("@virtkit/local");
  const name = vmiName(record ?? lost);
  const mayRun = record
    ? !(await local.isAbandoned(stateDirectory, record))
    : local.isLostVmiRunning(lost);
  if (mayRun && !now) {
    const what = `virtkit stop ${name}, or: virtkit rm --force ${name}`;
    throw new UsageError(`${name} is running or starting; first run: ${what}`);
  }
  if (record) await local.removeVmi(stateDirectory, record);
  else await local.removeLostVmi(stateDirectory, lost);
  io.stderr.write(`${name} is removed. Next: virtkit run -f vmi.yaml\n`);
  return 0;
}
