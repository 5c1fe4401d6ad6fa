import { type AdmissionKind, mutate } from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import { type Io, writeAll } from "../io.ts";
import { type ManifestDocument, readManifests } from "../manifests.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { place, readConfig } from "../read-config.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit default --help`. */
export const help = `Usage: virtkit default -f FILE [-f FILE]... [OPTION]...

Prints the objects as they are stored once KubeVirt has filled in its defaults. VirtualMachines,
VirtualMachineInstances and VirtualMachineInstanceMigrations have defaults; other objects are
printed as they are.

  -f, --filename FILE      YAML or JSON with any number of objects; - is stdin; may be repeated
      --config FILE        the KubeVirt object, or its spec.configuration, of the cluster
      --patch              print the JSON patch of each object in place of the object
  -o, --output FORMAT      yaml (default) or json

Firmware without a UUID gets a new one each time.
Exit codes: 0 all objects are printed, 1 some were refused or could not be read, 2 wrong usage.`;

const kinds: ReadonlySet<string> = new Set<AdmissionKind>([
  "VirtualMachine",
  "VirtualMachineInstance",
  "VirtualMachineInstanceMigration",
]);

/** Prints the defaulted objects; what is refused goes to stderr, and the exit code is 1. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f", multiple: true },
      config: { type: "string" },
      patch: { type: "boolean" },
      output: { type: "string", short: "o" },
    },
  });
  const format = outputFormat(values.output, ["yaml", "json"]);
  if (!values.filename) throw new UsageError("name the files with the objects with -f FILE");
  const config = await readConfig(values.config, io);
  const { documents, problems } = await readManifests(values.filename, io);
  const complaints = problems.map((problem) => `${place(problem)}: ${problem.message}\n`);
  const results: unknown[] = [];
  for (const document of documents) {
    const result = defaulted(document, config);
    if ("refused" in result) {
      const at = place({ source: document.source, ...document.position([]) });
      complaints.push(`${at}: ${result.refused}\n`);
    } else results.push(values.patch ? result.patch : result.object);
  }
  await writeObjects(io, results, format);
  if (complaints.length > 0) await writeAll(io.stderr, complaints.join(""));
  return complaints.length === 0 ? 0 : 1;
}

type Defaulted = { object: unknown; patch: unknown } | { refused: string };

function defaulted({ value }: ManifestDocument, config: ClusterConfig): Defaulted {
  const { kind, apiVersion } = Object(value) as Record<string, unknown>;
  const isOurs = typeof apiVersion === "string" && apiVersion.startsWith(`${config.names.group}/`);
  if (!isOurs || typeof kind !== "string" || !kinds.has(kind)) return { object: value, patch: [] };
  const mutation = mutate(
    { kind: kind as AdmissionKind, operation: "CREATE", object: value },
    config,
  );
  return mutation.allowed ? mutation : { refused: mutation.message };
}
