import { type Io, writeAll } from "../io.ts";
import { stateDirectory } from "../local/state-directory.ts";
import { leftoverLines, leftoverObject } from "../local/tell-leftovers.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit doctor --help`. */
export const help = `Usage: virtkit doctor [-o FORMAT] [--state-dir DIR]
       virtkit doctor --clean [--force] [-o FORMAT] [--state-dir DIR]

Checks whether "virtkit run" works on this host, and prints the command that installs what is missing.
Starts libvirtd, and tests QEMU and KVM with a short boot. Then lists what VMIs have left behind: files,
cgroups, network namespaces and nftables tables that belong to no recorded VMI.

      --clean          remove the leftovers of this state directory that nobody owns. Anything that belongs
                       to another state directory or may have an owner stays, and running guests are
                       not ended
      --force          with --clean: also end running guests that nobody owns
  -o, --output FORMAT  text (default), json or yaml
      --state-dir DIR  where VMIs are kept; default $VIRTKIT_STATE_DIR or /var/lib/virtkit

Exit codes: 0 VMIs can run here, or everything is clean; 1 something is missing or could not be removed;
2 wrong usage.`;

const marks = { ok: "ok", missing: "MISSING", slow: "slow", optional: "none" } as const;

/** Prints one line per check, with the fix below it. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      output: { type: "string", short: "o" },
      clean: { type: "boolean" },
      force: { type: "boolean" },
      "state-dir": { type: "string" },
    },
  });
  const format = outputFormat(values.output, ["text", "json", "yaml"]);
  const directory = stateDirectory(values["state-dir"], io);
  if (values.clean) return await clean(directory, values.force ?? false, format, io);
  if (values.force) throw new UsageError("--force needs --clean");
  const { findLeftovers, leftoverName, hostReport } = await import("@virtkit/local");
  const checks = await hostReport({ again: true });
  const leftovers = await findLeftovers(directory);
  const { ownerless, kept } = leftovers;
  const missing = checks.filter(({ state }) => state === "missing");
  if (format !== "text") {
    const pods = [...ownerless, ...kept].map((pod) => leftoverObject(pod, leftoverName(pod)));
    await writeObjects(io, [...checks, ...pods], format);
    return missing.length === 0 ? 0 : 1;
  }
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, state, found, fix }) => [
    `  ${name.padEnd(width)}  ${marks[state].padEnd(7)}  ${found}`,
    ...(fix === undefined ? [] : [`  ${" ".repeat(width)}           -> ${fix}`]),
  ]);
  const end =
    missing.length === 0
      ? "VMIs can run here. Next: virtkit run -f vmi.yaml"
      : `Missing: ${missing.map(({ name }) => name).join(", ")}. Get them as shown above, then run: virtkit doctor`;
  const left = leftoverLines(leftovers, leftoverName);
  const hint = ownerless.length === 0 ? "" : "To remove what nobody owns: virtkit doctor --clean\n";
  const section = left.length === 0 ? "" : `Leftovers:\n${left.join("\n")}\n${hint}\n`;
  await writeAll(io.stdout, `${lines.join("\n")}\n\n${section}${end}\n`);
  return missing.length === 0 ? 0 : 1;
}

/** Lists what is left, then removes what nobody owns, one by one. */
async function clean(
  directory: string,
  force: boolean,
  format: "text" | "json" | "yaml",
  io: Io,
): Promise<number> {
  const { findLeftovers, leftoverName, removeLeftover } = await import("@virtkit/local");
  const leftovers = await findLeftovers(directory);
  const list = leftoverLines(leftovers, leftoverName);
  const isText = format === "text";
  if (isText && list.length > 0) await writeAll(io.stdout, `${list.join("\n")}\n`);
  const done: unknown[] = [];
  let failures = 0;
  for (const pod of leftovers.ownerless) {
    const name = leftoverName(pod);
    try {
      await removeLeftover(directory, pod, { force });
      done.push({ ...leftoverObject(pod, name), removed: true });
      if (isText) await writeAll(io.stdout, `Removed ${name}.\n`);
    } catch (error) {
      failures += 1;
      const problem = error instanceof Error ? error.message : String(error);
      done.push({ ...leftoverObject(pod, name), removed: false, problem });
      io.stderr.write(`virtkit: ${problem}\n`);
    }
  }
  const kept = leftovers.kept.map((pod) => ({
    ...leftoverObject(pod, leftoverName(pod)),
    removed: false,
  }));
  if (!isText) await writeObjects(io, [...done, ...kept], format);
  else if (failures === 0) io.stderr.write("Everything without an owner is removed.\n");
  return failures === 0 ? 0 : 1;
}
