import type { Io } from "../io.ts";
import { findMachine, machineName } from "../machines/find-machine.ts";
import { machineOptions, stateDirHelp } from "../machines/machine-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit rm --help`. */
export const help: string = `Usage: virtkit rm NAME [--now] [--state-dir DIR]

Removes a machine that has stopped: its files, network and cgroup. It also removes what a "virtkit run"
left that was killed on its way.

      --now            kill the machine if it runs
${stateDirHelp}`;

/** Refuses a guest that runs, unless told to kill it. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory, now } = machineOptions(args, io);
  const record = await findMachine(stateDirectory, names);
  const { isAbandoned, removeMachine } = await import("@virtkit/node-agent/local");
  const name = machineName(record);
  if (!now && !(await isAbandoned(stateDirectory, record))) {
    const what = `virtkit stop ${name}, or: virtkit rm --now ${name}`;
    throw new UsageError(`${name} runs or is being started; first: ${what}`);
  }
  await removeMachine(stateDirectory, record);
  io.stderr.write(`${name} is removed. Next: virtkit run -f vmi.yaml\n`);
  return 0;
}
