import { type CustomResourceDefinition, crds } from "@virtkit/api/crd";
import { names } from "@virtkit/api/names";
import { type Io, writeAll } from "../io.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit crds --help`. */
export const help: string = `Usage: virtkit crds [-o yaml|json] [--group GROUP] [KIND]...

Prints the CustomResourceDefinitions of every kind, or of the given kinds. To apply them:

  virtkit crds | kubectl apply --server-side -f -

  -o, --output yaml|json   several YAML documents (the default), or one JSON List
      --group GROUP        the root of the API groups; the default is ${names().group}
  KIND                     a kind, its singular, plural or short name: VirtualMachine, vm`;

/** Prints the definitions to stdout; exits 0. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    allowPositionals: true,
    options: { output: { type: "string", short: "o" }, group: { type: "string" } },
  });
  const format = outputFormat(values.output, ["yaml", "json"]);
  const group = values.group === undefined ? {} : { group: checkedGroup(values.group) };
  const items = select(crds(group), positionals);
  if (format === "yaml") await writeObjects(io, items, format);
  else await writeAll(io.stdout, `${JSON.stringify({ apiVersion: "v1", kind: "List", items })}\n`);
  return 0;
}

const domainName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

function checkedGroup(group: string): string {
  if (domainName.test(group)) return group;
  throw new UsageError(`--group must be a domain name such as vm.example.com, got "${group}"`);
}

function select(
  all: readonly CustomResourceDefinition[],
  kinds: readonly string[],
): readonly CustomResourceDefinition[] {
  if (kinds.length === 0) return all;
  for (const kind of kinds) {
    if (all.some((definition) => isNamed(definition, kind))) continue;
    const known = all.map(({ spec }) => spec.names.kind).join(", ");
    throw new UsageError(`there is no kind "${kind}"; known kinds: ${known}`);
  }
  return all.filter((definition) => kinds.some((kind) => isNamed(definition, kind)));
}

function isNamed({ spec: { names } }: CustomResourceDefinition, name: string): boolean {
  const { kind, singular, plural, shortNames = [] } = names;
  return kind === name || [singular, plural, ...shortNames].includes(name.toLowerCase());
}
