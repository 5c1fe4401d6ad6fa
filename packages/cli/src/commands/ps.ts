import type { PodOwner, UnreadableRecord, VmiRecord, VmiState } from "@virtkit/local";
import { type Io, writeAll } from "../io.ts";
import { vmiName } from "../local/find-vmi.ts";
import { publishText } from "../local/parse-publish.ts";
import { settledVmi } from "../local/settled-vmi.ts";
import { stateDirectory } from "../local/state-directory.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";

/** Text of `virtkit ps --help`. */
export const help = `Usage: virtkit ps [-o FORMAT] [--state-dir DIR]

Lists the VMIs that "virtkit run" has started on this host. The state is Unreadable if a VMI's record cannot
be read, and Unrecorded if a VMI runs without a record; "virtkit stop" and "virtkit rm" find both by the
name that is shown.

STATE is what libvirt reports (Running, Paused, ...), or: Migrating; Starting; PoweredOff (by itself);
Stopped (on request); Killed (its QEMU or launcher was killed); Crashed (the guest's kernel panicked, or QEMU
crashed); Failed (its start failed or was interrupted); Unknown (its launcher does not answer). "virtkit why
NAME" says why.

  -o, --output FORMAT  text (default), json or yaml
      --state-dir DIR  where VMIs are kept; default $VIRTKIT_STATE_DIR or /var/lib/virtkit`;

/** Prints one line per VMI; without any, how to start one. An unreadable record does not hide others. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: { output: { type: "string", short: "o" }, "state-dir": { type: "string" } },
  });
  const format = outputFormat(values.output, ["text", "json", "yaml"]);
  const { listRecords, vmiState, readinessOf, unrecordedPods } = await import("@virtkit/local");
  const directory = stateDirectory(values["state-dir"], io);
  const list = await listRecords(directory);
  const rows = await Promise.all(
    list.records.map(async (record) => {
      const settled = await settledVmi(directory, record, io).catch((error: unknown) => {
        io.stderr.write(`virtkit: ${error instanceof Error ? error.message : String(error)}\n`);
        return record;
      });
      const now = await vmiState(directory, settled);
      return { record: settled, now, ready: readinessOf(now) };
    }),
  );
  const lost = [
    ...list.unreadable.map(unreadableRow),
    ...(await unrecordedPods(directory, list)).map(unrecordedRow),
  ];
  for (const { problem, name } of lost) {
    io.stderr.write(
      `virtkit: ${problem}; to end it, run: virtkit stop ${name}, then: virtkit rm ${name}\n`,
    );
  }
  if (format !== "text") {
    // One list, however many there are.
    await writeObjects(io, [[...rows.map(asObject), ...lost.map(({ object }) => object)]], format);
    return 0;
  }
  if (rows.length + lost.length === 0) {
    io.stderr.write("There are no VMIs. Next: virtkit run -f vmi.yaml\n");
    return 0;
  }
  const lostCells = lost.map(({ name, object }) => [
    ...[name, object.state],
    ...titles.slice(2).map(() => "-"),
  ]);
  await writeAll(io.stdout, table([...rows.map(asCells), ...lostCells]));
  return 0;
}

/** A VMI that its record does not describe. */
interface LostRow {
  readonly name: string;
  readonly problem: string;
  readonly object: { readonly state: "Unreadable" | "Unrecorded" } & Readonly<
    Record<string, unknown>
  >;
}

function unreadableRow({ namespace, name, file, problem }: UnreadableRecord): LostRow {
  return {
    name: vmiName({ namespace, name }),
    problem: `the record ${file} cannot be read: ${problem}`,
    object: { namespace, name, state: "Unreadable", file, problem },
  };
}

function unrecordedRow({ namespace = "default", name, podUid }: PodOwner): LostRow {
  const shown = name === undefined ? podUid : vmiName({ namespace, name });
  return {
    name: shown,
    problem: `${shown} runs in the Pod ${podUid} but has no record`,
    object: { namespace, name: name ?? podUid, state: "Unrecorded", podUid },
  };
}

interface Row {
  readonly record: VmiRecord;
  readonly now: VmiState;
  readonly ready: boolean | undefined;
}

function asObject({ record, now, ready }: Row): unknown {
  const { namespace, name, createdAt, accel, published, network = "open" } = record;
  const { status, end } = now;
  return {
    namespace,
    name,
    state: stateOf(record, now),
    ready: ready ?? false,
    ...(status?.probes ? { probes: status.probes } : {}),
    ...(end ? { end } : {}),
    agent: status?.agent ?? "disconnected",
    accel,
    createdAt,
    published,
    network,
    ips: addresses(now),
  };
}

function stateOf({ move }: VmiRecord, { state, status }: VmiState): string {
  return move && status ? "Migrating" : state;
}

function addresses({ status }: VmiState): readonly string[] {
  return status?.interfaces.flatMap(({ ips }) => ips) ?? [];
}

function asCells({ record, now, ready }: Row): readonly string[] {
  const agent = now.status?.agent ?? "-";
  const ports = record.published.map(publishText).join(", ") || "-";
  const isReady = ready === undefined ? "-" : ready ? "yes" : "no";
  return [
    vmiName(record),
    stateOf(record, now),
    isReady,
    agent,
    record.accel,
    record.createdAt,
    ports,
  ];
}

const titles = ["NAME", "STATE", "READY", "AGENT", "ACCEL", "CREATED", "PORTS"];

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
