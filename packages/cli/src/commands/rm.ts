import type { Io } from "../io.ts";
import { findAnyMachine, machineName } from "../machines/find-machine.ts";
import { machineOptions, stateDirHelp } from "../machines/machine-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit rm --help`. */
export const help: string = `Usage: virtkit rm NAME [--force] [--state-dir DIR]

Removes a machine that has stopped: its files, network and cgroup. It also removes what a "virtkit run"
left that was killed on its way, and a machine whose record is gone or cannot be read: NAME may then also
be the UID of its Pod. A machine that runs is refused.

      --force, --now   kill the machine if it runs
${stateDirHelp}`;

/** Refuses a guest that runs, unless told to kill it. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory, now } = machineOptions(args, io);
  const { record, lost } = await findAnyMachine(stateDirectory, names);
  const local = await import("@virtkit/local");
  const name = machineName(record ?? lost);
  const mayRun = record
    ? !(await local.isAbandoned(stateDirectory, record))
    : local.isLostMachineRunning(lost);
  if (mayRun && !now) {
    const what = `virtkit stop ${name}, or: virtkit rm --force ${name}`;
    throw new UsageError(`${name} runs or is being started; first: ${what}`);
  }
  if (record) await local.removeMachine(stateDirectory, record);
  else await local.removeLostMachine(stateDirectory, lost);
  io.stderr.write(`${name} is removed. Next: virtkit run -f vmi.yaml\n`);
  return 0;
}
