import type { MachineRecord, MachineState } from "@virtkit/node-agent/local";
import { type Io, writeAll } from "../io.ts";
import { machineName } from "../machines/find-machine.ts";
import { publishText } from "../machines/parse-publish.ts";
import { stateDirectory } from "../machines/state-directory.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";

/** Text of `virtkit ps --help`. */
export const help = `Usage: virtkit ps [-o FORMAT] [--state-dir DIR]

Lists the machines that "virtkit run" has started on this host.

STATE is what libvirt says of a guest (Running, Paused, ...), or: Starting; PoweredOff (by itself);
Stopped (on request); Killed (its QEMU or launcher was); Crashed (the guest's kernel panicked, or QEMU
crashed); Failed (its start failed or was cut off); Unknown (its launcher does not answer). virtkit why
NAME tells why.

  -o, --output FORMAT  text (default), json or yaml
      --state-dir DIR  where machines are kept; /var/lib/virtkit unless VIRTKIT_STATE_DIR tells`;

/** Prints a line a machine; without any, how to start one. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: { output: { type: "string", short: "o" }, "state-dir": { type: "string" } },
  });
  const format = outputFormat(values.output, ["text", "json", "yaml"]);
  const { listRecords, machineState } = await import("@virtkit/node-agent/local");
  const directory = stateDirectory(values["state-dir"], io);
  const records = await listRecords(directory);
  const rows = await Promise.all(
    records.map(async (record) => ({ record, now: await machineState(directory, record) })),
  );
  if (format !== "text") {
    // One list, however many there are.
    await writeObjects(io, [rows.map(asObject)], format);
    return 0;
  }
  if (rows.length === 0) {
    io.stderr.write("There is no machine. Next: virtkit run -f vmi.yaml\n");
    return 0;
  }
  await writeAll(io.stdout, table(rows.map(asCells)));
  return 0;
}

interface Row {
  readonly record: MachineRecord;
  readonly now: MachineState;
}

function asObject({ record, now }: Row): unknown {
  const { namespace, name, createdAt, accel, published } = record;
  const { state, status, end } = now;
  return {
    namespace,
    name,
    state,
    ...(end ? { end } : {}),
    agent: status?.agent ?? "disconnected",
    accel,
    createdAt,
    published,
    ips: addresses(now),
  };
}

function addresses({ status }: MachineState): readonly string[] {
  return status?.interfaces.flatMap(({ ips }) => ips) ?? [];
}

function asCells({ record, now }: Row): readonly string[] {
  const agent = now.status?.agent ?? "-";
  const ports = record.published.map(publishText).join(", ") || "-";
  return [machineName(record), now.state, agent, record.accel, record.createdAt, ports];
}

const titles = ["NAME", "STATE", "AGENT", "ACCEL", "CREATED", "PORTS"];

function table(rows: readonly (readonly string[])[]): string {
  const all = [titles, ...rows];
  const widths = titles.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}
