import type { Io } from "../io.ts";
import { findMachine, machineName } from "../machines/find-machine.ts";
import { machineOptions, stateDirHelp } from "../machines/machine-options.ts";

/** Text of `virtkit stop --help`. */
export const help: string = `Usage: virtkit stop NAME [--now] [--state-dir DIR]

Asks a machine's guest to shut down, and kills it when its grace period is over. Its trace can still be
read (virtkit why NAME) until it is removed (virtkit rm NAME).

      --now            kill it at once
${stateDirHelp}`;

/** Returns when nothing of the machine runs any more. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory, now } = machineOptions(args, io);
  const record = await findMachine(stateDirectory, names);
  const { stopMachine } = await import("@virtkit/node-agent/local");
  await stopMachine(stateDirectory, record, now ? { gracePeriod: 0 } : {});
  const name = machineName(record);
  io.stderr.write(`${name} has stopped. Next: virtkit rm ${name}\n`);
  return 0;
}
