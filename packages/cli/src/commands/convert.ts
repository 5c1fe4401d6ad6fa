import { domainFor, toXml } from "@virtkit/converter";
import type { Domain } from "@virtkit/converter/model";
import { type Io, writeAll } from "../io.ts";
import { outputFormat } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { readConversion } from "../read-conversion.ts";
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
  const { vmi, environment } = await readConversion(values.filename, values.environment, io);
  const domain = domainFor(vmi, environment);
  await writeAll(io.stdout, format === "xml" ? toXml(domain) : toJson(domain));
  return 0;
}

/** JSON has no bigint: numbers above 2^53 become text. */
function toJson(domain: Domain): string {
  const plain = (_key: string, value: unknown): unknown =>
    typeof value === "bigint" ? String(value) : value;
  return `${JSON.stringify(domain, plain, 2)}\n`;
}
