import type { Io } from "../io.ts";
import { findAnyMachine, machineName } from "../machines/find-machine.ts";
import { machineOptions, stateDirHelp } from "../machines/machine-options.ts";

/** Text of `virtkit stop --help`. */
export const help: string = `Usage: virtkit stop NAME [--now] [--state-dir DIR]

Asks a machine's guest to shut down, and kills it when its grace period is over. Its trace can still be
read (virtkit why NAME) until it is removed (virtkit rm NAME). A machine whose record is gone or cannot be
read is found as well; NAME may then also be the UID of its Pod. Needs no free disk.

      --now            kill it at once
${stateDirHelp}`;

/** Returns when nothing of the machine runs any more. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory, now } = machineOptions(args, io);
  const { record, lost } = await findAnyMachine(stateDirectory, names);
  const { stopLostMachine, stopMachine } = await import("@virtkit/local");
  const options = now ? { gracePeriod: 0 } : {};
  if (record) await stopMachine(stateDirectory, record, options);
  else await stopLostMachine(stateDirectory, lost, options);
  const name = machineName(record ?? lost);
  io.stderr.write(`${name} has stopped. Next: virtkit rm ${name}\n`);
  return 0;
}
