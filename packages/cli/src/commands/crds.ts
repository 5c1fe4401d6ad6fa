import { parseArgs } from "node:util";
import { type CustomResourceDefinition, crds } from "@virtkit/api/crd";
import { stringify } from "yaml";
import { type Io, writeAll } from "../io.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit crds --help`. */
export const help = `Usage: virtkit crds [-o yaml|json] [--group GROUP] [KIND]...

Prints the CustomResourceDefinitions of every kind, or of the kinds that are named, for:

  virtkit crds | kubectl apply --server-side -f -

  -o, --output yaml|json   several YAML documents (the default), or one JSON List
      --group GROUP        the root of the API groups; the default is kubevirt.io
  KIND                     a kind, its singular, plural or short name: VirtualMachine, vm`;

/** Prints the definitions to stdout; exits 0. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { output, group, kinds } = parse(args);
  const definitions = select(crds(group === undefined ? {} : { group }), kinds);
  for (const chunk of output === "json" ? json(definitions) : yaml(definitions)) {
    await writeAll(io.stdout, chunk);
  }
  return 0;
}

function json(definitions: readonly CustomResourceDefinition[]): string[] {
  const list = { apiVersion: "v1", kind: "List", items: definitions };
  return [`${JSON.stringify(list, null, 2)}\n`];
}

function yaml(definitions: readonly CustomResourceDefinition[]): string[] {
  // Anchors would be legal YAML that people cannot read.
  return definitions.map((item) => `---\n${stringify(item, { aliasDuplicateObjects: false })}`);
}

interface Arguments {
  readonly output: "yaml" | "json";
  readonly group: string | undefined;
  readonly kinds: readonly string[];
}

function parse(args: readonly string[]): Arguments {
  const { values, positionals } = parseOrRefuse(args);
  const { output = "yaml", group } = values;
  if (output !== "yaml" && output !== "json") {
    throw new UsageError(`--output must be yaml or json, got "${output}"`);
  }
  if (
    group !== undefined &&
    !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group)
  ) {
    throw new UsageError(`--group must be a domain name such as vm.example.com, got "${group}"`);
  }
  return { output, group, kinds: positionals };
}

function parseOrRefuse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { output: { type: "string", short: "o" }, group: { type: "string" } },
    });
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
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
