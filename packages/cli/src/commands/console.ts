import type { Io } from "../io.ts";
import { attachConsole } from "../local/attach-console.ts";
import { findVmi, vmiName } from "../local/find-vmi.ts";
import { localOptions, stateDirHelp } from "../local/local-options.ts";

/** Text of `virtkit console --help`. */
export const help: string = `Usage: virtkit console NAME [--state-dir DIR]

Connects this terminal to the serial console of a VMI. Ctrl-] disconnects; the VMI keeps running.

${stateDirHelp}`;

/** Returns when the user leaves, or the guest has ended. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { names, stateDirectory } = localOptions(args, io);
  const record = await findVmi(stateDirectory, names, io);
  const { openVmiConsole } = await import("@virtkit/local");
  const console = await openVmiConsole(stateDirectory, record);
  const name = vmiName(record);
  io.stderr.write(`Console of ${name}. Press Enter for a prompt, Ctrl-] to leave.\n`);
  let taken = "";
  console.once("error", ({ message }) => {
    taken = message;
  });
  const end = await attachConsole(console, { input: io.stdin, output: io.stdout });
  const closed = taken || `${name} closed its console. Next: virtkit ps`;
  const next = end === "left" ? `${name} keeps running. Next: virtkit stop ${name}` : closed;
  io.stderr.write(`\n${next}\n`);
  return 0;
}
