import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { domainFor, type Environment, toXml } from "@virtkit/converter";
import type { Domain } from "@virtkit/converter/model";
import { type Io, writeAll } from "../io.ts";
import { type ManifestDocument, readManifests } from "../manifests.ts";
import { outputFormat } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit convert --help`. */
export const help = `Usage: virtkit convert -f FILE [OPTION]...

Prints the libvirt domain that a VirtualMachineInstance, or the template of a VirtualMachine,
becomes: its defaults are set, the rest is taken from the environment.

  -f, --filename FILE      YAML or JSON with one object; - is stdin
      --environment FILE   JSON or YAML: what the cluster, the node and the Pod are like; without
                           it, an ordinary cluster and a node that has what the VMI needs
  -o, --output FORMAT      xml, as libvirt takes it, or json, the typed model

Exit codes: 0 done, 1 it cannot be converted (stderr says which field), 2 wrong usage.`;

/** Prints the domain; fails with the path of the field that stands in the way. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f" },
      environment: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const format = outputFormat(values.output, ["xml", "json"]);
  if (values.filename === undefined) throw new UsageError("name the file to convert with -f FILE");
  const { value } = await readOne(values.filename, io);
  const environment = values.environment === undefined ? {} : await readOne(values.environment, io);
  const given = "value" in environment ? (environment.value as Environment) : {};
  const domain = domainFor(...vmiOf(value, given));
  await writeAll(io.stdout, format === "xml" ? toXml(domain) : toJson(domain));
  return 0;
}

async function readOne(file: string, io: Io): Promise<ManifestDocument> {
  const { documents, problems } = await readManifests([file], io);
  const [problem] = problems;
  if (problem) throw new Error(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
  const [document, second] = documents;
  if (!document || second) {
    throw new UsageError(`${file}: give a file with one object, not ${documents.length}`);
  }
  return document;
}

/** The VMI itself, or the one that a VM's controller would make. */
function vmiOf(value: unknown, environment: Environment): [VirtualMachineInstance, Environment] {
  const { kind } = Object(value) as { kind?: unknown };
  if (kind === undefined || kind === "VirtualMachineInstance") {
    return [value as VirtualMachineInstance, environment];
  }
  if (kind !== "VirtualMachine") {
    throw new UsageError(
      `give a VirtualMachineInstance or a VirtualMachine, not a ${String(kind)}`,
    );
  }
  const { metadata, spec } = value as VirtualMachine;
  const template = spec?.template;
  const vmi = {
    metadata: { ...template?.metadata, name: metadata?.name, namespace: metadata?.namespace },
    spec: template?.spec,
  };
  return [vmi as VirtualMachineInstance, { ownedByVM: true, ...environment }];
}

/** JSON has no bigint: numbers above 2^53 become text. */
function toJson(domain: Domain): string {
  const plain = (_key: string, value: unknown): unknown =>
    typeof value === "bigint" ? String(value) : value;
  return `${JSON.stringify(domain, plain, 2)}\n`;
}
