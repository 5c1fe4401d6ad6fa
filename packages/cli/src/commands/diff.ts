import { readFile } from "node:fs/promises";
import { styleText } from "node:util";
import {
  type ChangeEffect,
  type ChangeKind,
  type DomainChange,
  diffDomains,
  domainFor,
  parseDomain,
} from "@virtkit/converter";
import type { Domain } from "@virtkit/converter/model";
import { type Io, writeAll } from "../io.ts";
import { outputFormat } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { readConversion } from "../read-conversion.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit diff --help`. */
export const help = `Usage: virtkit diff RUNNING WANTED [OPTION]...

Prints the changes that turn a running guest into the wanted one, in order, and whether each change
can be made live, needs a migration, or needs a restart.

RUNNING and WANTED are YAML or JSON with a VirtualMachineInstance or a VirtualMachine, or domain XML
in a file whose name ends in .xml, as printed by "virsh dumpxml"; - is a manifest on stdin.

      --environment FILE   JSON or YAML that describes the cluster, the node and the Pod
      --dynamic-networks   the cluster can plug networks into a running Pod
  -o, --output FORMAT      text (default), or json: an array of changes, each with how it can be made

Exit codes: 0 done, 1 a file cannot be read or converted, 2 wrong usage.`;

/** Prints the changes; nothing to do is an answer like any other. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    options: {
      environment: { type: "string" },
      "dynamic-networks": { type: "boolean" },
      output: { type: "string", short: "o" },
    },
    allowPositionals: true,
  });
  const format = outputFormat(values.output, ["text", "json"]);
  const [before, after, third] = positionals;
  if (before === undefined || after === undefined || third !== undefined) {
    throw new UsageError("name two files: RUNNING and WANTED");
  }
  const { domain: running } = await readGuest(before, values.environment, unnamed, io);
  const wanted = await readGuest(after, values.environment, uuidOf(running), io);
  const dynamicNetworks = values["dynamic-networks"] === true;
  const changes = diffDomains(running, wanted.domain, { dynamicNetworks }).filter(
    ({ kind }) => !wanted.calculated.includes(kind),
  );
  await writeAll(io.stdout, format === "json" ? toJson(changes) : toText(changes, io));
  return 0;
}

/** A guest without a UUID would get a new one each time, and always differ. */
const unnamed = "00000000-0000-4000-8000-000000000000";

function uuidOf({ uuid, sysinfo }: Domain): string {
  const told = sysinfo?.system.entries.find(({ name }) => name === "uuid");
  return uuid ?? told?.value ?? unnamed;
}

/** A domain, and the kinds of change that nobody asked for. */
interface Guest {
  readonly domain: Domain;
  /** Limits that follow from the defaults: a running guest keeps those that it was started with. */
  readonly calculated: readonly ChangeKind[];
}

async function readGuest(
  file: string,
  environmentFile: string | undefined,
  firmwareUUID: string,
  io: Io,
): Promise<Guest> {
  if (file.endsWith(".xml")) {
    return { domain: parseXml(await readFile(file, "utf8"), file), calculated: [] };
  }
  const { vmi, environment } = await readConversion([file], environmentFile, io);
  const domain = domainFor(vmi, { firmwareUUID, ...environment });
  const { cpu, memory } = vmi.spec.domain;
  const calculated: ChangeKind[] = [];
  if (!cpu?.maxSockets) calculated.push("set-vcpu-limit");
  if (!memory?.maxGuest) calculated.push("set-memory-limit");
  return { domain, calculated };
}

function parseXml(xml: string, file: string): Domain {
  try {
    return parseDomain(xml);
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause });
  }
}

const headings: Readonly<Record<ChangeEffect, string>> = {
  live: "live",
  "needs-migration": "with a migration",
  "needs-restart": "with a restart",
};

const colours = { live: "green", "needs-migration": "yellow", "needs-restart": "red" } as const;

function toText(changes: readonly DomainChange[], { isTerminal, env }: Io): string {
  if (changes.length === 0) return "nothing to change\n";
  const colour = isTerminal && !env["NO_COLOR"];
  const lines: string[] = [];
  let last: ChangeEffect | undefined;
  for (const { effect, summary, reason } of changes) {
    if (effect !== last) {
      const heading = `${headings[effect]}:`;
      lines.push(colour ? styleText(colours[effect], heading, { validateStream: false }) : heading);
    }
    last = effect;
    lines.push(`  ${summary}`);
    if (reason !== undefined) lines.push(`    ${reason}`);
  }
  return `${lines.join("\n")}\n`;
}

/** JSON has no bigint: numbers above 2^53 become strings. */
function toJson(changes: readonly DomainChange[]): string {
  const plain = (_key: string, value: unknown): unknown =>
    typeof value === "bigint" ? String(value) : value;
  return `${JSON.stringify(changes, plain, 2)}\n`;
}
