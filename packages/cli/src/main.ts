import { commands } from "./commands.ts";
import { flush, type Io, isReaderGone, writeAll } from "./io.ts";
import { isUsageError, UsageError } from "./usage-error.ts";
import { version } from "./version.ts";

/**
 * Runs `virtkit` with the arguments after the program's name and returns the exit code.
 *
 * 0: done. 1: done, but the answer is no (for example an invalid object), or something failed. 2: the command
 * line is wrong. Data goes to stdout, everything else to stderr; if nobody reads stdout any more, as after
 * `| head`, it stops, which is not a failure. Never throws.
 */
export async function main(args: readonly string[], io: Io): Promise<number> {
  try {
    const code = await dispatch(args, io);
    await flush(io.stdout);
    return code;
  } catch (error) {
    if (isReaderGone(io.stdout, error)) return 0;
    const [name = ""] = args;
    const command = Object.hasOwn(commands, name) ? ` ${name}` : "";
    const hint = isUsageError(error) ? `\nTry: virtkit${command} --help` : "";
    const message = error instanceof Error ? error.message : String(error);
    io.stderr.write(`virtkit: ${message}${hint}\n`);
    return isUsageError(error) ? 2 : 1;
  }
}

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    await writeAll(io.stderr, overview());
    return 2;
  }
  if (name === "--help" || name === "-h" || (name === "help" && rest.length === 0)) {
    await writeAll(io.stdout, overview());
    return 0;
  }
  if (name === "--version" || name === "-V") {
    await writeAll(io.stdout, `${version()}\n`);
    return 0;
  }
  const wanted = name === "help" ? (rest[0] ?? "") : name;
  const command = Object.hasOwn(commands, wanted) ? commands[wanted] : undefined;
  if (!command) throw new UsageError(`"${wanted}" is not a command`);
  const module = await command.load();
  if (name === "help" || rest.includes("--help") || rest.includes("-h")) {
    await writeAll(io.stdout, `${module.help}\n`);
    return 0;
  }
  return await module.run(rest, io);
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(
    ([name, command]) => `  ${name.padEnd(width)}  ${command.summary}`,
  );
  return `Usage: virtkit COMMAND [OPTION]...

${lines.join("\n")}

  virtkit COMMAND --help   how to use a command
  virtkit --version        print the version

Data goes to stdout, messages to stderr. Exit codes: 0 done, 1 failed or invalid, 2 wrong usage.
`;
}
