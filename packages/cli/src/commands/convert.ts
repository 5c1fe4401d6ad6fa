import { domainFor, toXml } from "@virtkit/converter";
import type { Domain } from "@virtkit/converter/model";
import { readManifests } from "@virtkit/node-agent/manifests";
import { applyInstancetypes } from "../apply-instancetypes.ts";
import { complaintOf, isAboutInput } from "../complaint.ts";
import { type Io, writeAll } from "../io.ts";
import { outputFormat } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { place } from "../place.ts";
import { conversionOf, isVmOrVmi, readEnvironment } from "../read-conversion.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit convert --help`. */
export const help = `Usage: virtkit convert -f FILE [OPTION]...

Prints the libvirt domain that a VirtualMachineInstance, or the template of a VirtualMachine,
becomes. Fills in the defaults first. The instance type and the preference of a VirtualMachine must be in
the same files. Objects of other kinds are ignored.

  -f, --filename FILE      YAML or JSON with any number of objects; - is stdin; may be repeated
      --environment FILE   JSON or YAML that describes the cluster, the node and the Pod; by default an
                           ordinary cluster, and a node that has what the VMI needs
  -o, --output FORMAT      xml (default), for libvirt, or json, the typed model

Exit codes: 0 done, 1 an object cannot be converted (stderr names the field), 2 wrong usage.`;

/** Prints the domains; for others, stderr names the place and the field that prevents it. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f", multiple: true },
      environment: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const format = outputFormat(values.output, ["xml", "json"]);
  if (!values.filename) throw new UsageError("pass the files to convert with -f FILE");
  const environment = await readEnvironment(values.environment, io);
  const { documents, problems } = await readManifests(values.filename, io);
  const complaints = problems.map((problem) => `${place(problem)}: ${problem.message}\n`);
  const described = documents.filter(isVmOrVmi);
  if (described.length === 0 && complaints.length === 0) {
    throw new Error("the manifests contain no VirtualMachineInstance");
  }
  const domains: Domain[] = [];
  for (const document of described) {
    const applied = applyInstancetypes(document, documents);
    if ("complaints" in applied) {
      complaints.push(...applied.complaints);
      continue;
    }
    try {
      const conversion = conversionOf(applied.document, environment);
      domains.push(domainFor(conversion.vmi, conversion.environment));
    } catch (error) {
      if (!isAboutInput(error)) throw error;
      complaints.push(complaintOf(document, error));
    }
  }
  await writeAll(io.stdout, domains.map(format === "xml" ? toXml : toJson).join(""));
  if (complaints.length > 0) await writeAll(io.stderr, complaints.join(""));
  return complaints.length === 0 ? 0 : 1;
}

/** JSON has no bigint: numbers above 2^53 become strings. */
function toJson(domain: Domain): string {
  const plain = (_key: string, value: unknown): unknown =>
    typeof value === "bigint" ? String(value) : value;
  return `${JSON.stringify(domain, plain, 2)}\n`;
}
