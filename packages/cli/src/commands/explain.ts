import { type Explanation, explainFor, nodesAt, nodesFrom } from "@virtkit/converter/explain";
import { explainedFields } from "../explain/explained-fields.ts";
import { explainedXml } from "../explain/explained-xml.ts";
import { stylesFor } from "../explain/styles.ts";
import { type Io, writeAll } from "../io.ts";
import { outputFormat } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { readConversion } from "../read-conversion.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit explain --help`. */
export const help = `Usage: virtkit explain -f FILE [OPTION]...

Prints the libvirt domain that a VirtualMachineInstance, or the template of a VirtualMachine,
becomes, and beside every line where it comes from: a field, the default of a field, a setting of
the cluster, a fact about the node, or a rule.

  -f, --filename FILE      YAML or JSON with one object, and with the instance type and preference
                           that it names; - is stdin; may be repeated
      --path PATH          only this part of the XML, such as devices.disk or
                           devices.disk[0].driver.@cache
      --field FIELD        the reverse: what this field and those below it change, such as
                           spec.domain.cpu
      --environment FILE   JSON or YAML that describes the cluster, the node and the Pod
  -o, --output FORMAT      text (default), or json with a sentence for each reason

Every reason was tested: a field is named because the part changes or disappears when the field does.

Exit codes: 0 done, 1 the object cannot be converted or has no such part, 2 wrong usage.`;

/** Prints the explanation; exits 1 if the path or field explains nothing. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f", multiple: true },
      path: { type: "string" },
      field: { type: "string" },
      environment: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const format = outputFormat(values.output, ["text", "json"]);
  if (values.filename === undefined) throw new UsageError("pass the file to explain with -f FILE");
  const { vmi, environment } = await readConversion(values.filename, values.environment, io);
  const explanation = explainFor(vmi, environment);
  const nodes = select(explanation, values);
  if (nodes.length === 0) {
    io.stderr.write(`virtkit: ${nothing(values)}\n`);
    return 1;
  }
  const styles = stylesFor(io);
  if (format === "json") await writeAll(io.stdout, toJson(nodes));
  else if (values.field !== undefined) {
    await writeAll(io.stdout, explainedFields(nodes, values.field, styles));
  } else await writeAll(io.stdout, explainedXml(explanation, new Set(nodes), styles));
  return 0;
}

interface Selection {
  readonly path?: string | undefined;
  readonly field?: string | undefined;
}

function select({ nodes }: Explanation, { path, field }: Selection): Explanation["nodes"] {
  const at = path === undefined ? nodes : nodesAt(nodes, path);
  return field === undefined ? at : nodesFrom(at, field);
}

function nothing({ path, field }: Selection): string {
  if (field === undefined) return `the domain has no ${path}`;
  return `nothing${path === undefined ? "" : ` at ${path}`} comes from ${field}`;
}

/** JSON has no bigint: numbers above 2^53 become strings. */
function toJson(nodes: Explanation["nodes"]): string {
  const plain = (_key: string, value: unknown): unknown =>
    typeof value === "bigint" ? String(value) : value;
  return `${JSON.stringify({ nodes }, plain, 2)}\n`;
}
