import type { Io } from "../io.ts";
import { attachConsole } from "../machines/attach-console.ts";
import { findMachine, machineName } from "../machines/find-machine.ts";
import { machineOptions, stateDirHelp } from "../machines/machine-options.ts";

/** Text of `virtkit console --help`. */
export const help: string = `Usage: virtkit console NAME [--state-dir DIR]

Joins this terminal to the serial console of a machine. Ctrl-] leaves it; the machine runs on.

${stateDirHelp}`;

/** Returns when the user leaves, or the guest has ended. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory } = machineOptions(args, io);
  const record = await findMachine(stateDirectory, names);
  const { openMachineConsole } = await import("@virtkit/local");
  const console = await openMachineConsole(stateDirectory, record);
  const name = machineName(record);
  io.stderr.write(`Console of ${name}. Press Enter for a prompt, Ctrl-] to leave.\n`);
  let taken = "";
  console.once("error", ({ message }) => {
    taken = message;
  });
  const end = await attachConsole(console, { input: io.stdin, output: io.stdout });
  const closed = taken || `${name} closed its console. Next: virtkit ps`;
  const next = end === "left" ? `${name} runs on. Next: virtkit stop ${name}` : closed;
  io.stderr.write(`\n${next}\n`);
  return 0;
}
