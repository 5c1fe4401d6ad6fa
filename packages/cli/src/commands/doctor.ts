import { type Io, writeAll } from "../io.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";

/** Text of `virtkit doctor --help`. */
export const help = `Usage: virtkit doctor [-o FORMAT]

Tells what this host can do for "virtkit run", and the command that brings what is missing. libvirtd is
started, and QEMU and KVM are proven by a short boot.

  -o, --output FORMAT  text (default), json or yaml

Exit codes: 0 machines can run here, 1 something is missing, 2 wrong usage.`;

const marks = { ok: "ok", missing: "MISSING", slow: "slow", optional: "none" } as const;

/** Prints one line a check, with its cure below it. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, { options: { output: { type: "string", short: "o" } } });
  const format = outputFormat(values.output, ["text", "json", "yaml"]);
  const { hostReport } = await import("@virtkit/node-agent/local");
  const checks = await hostReport({ again: true });
  const missing = checks.filter(({ state }) => state === "missing");
  if (format !== "text") {
    await writeObjects(io, checks, format);
    return missing.length === 0 ? 0 : 1;
  }
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, state, found, fix }) => [
    `  ${name.padEnd(width)}  ${marks[state].padEnd(7)}  ${found}`,
    ...(fix === undefined ? [] : [`  ${" ".repeat(width)}           -> ${fix}`]),
  ]);
  const end =
    missing.length === 0
      ? "Machines can run here. Next: virtkit run -f vmi.yaml"
      : `Missing: ${missing.map(({ name }) => name).join(", ")}. Get them as told above, then: virtkit doctor`;
  await writeAll(io.stdout, `${lines.join("\n")}\n\n${end}\n`);
  return missing.length === 0 ? 0 : 1;
}
