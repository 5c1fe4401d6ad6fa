import { type AdmissionKind, mutate } from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import { checkObject, schemaFor } from "@virtkit/api/schema";
import { type ManifestDocument, readManifests } from "@virtkit/node-agent/manifests";
import { complaint } from "../complaint.ts";
import { type Io, writeAll } from "../io.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { place } from "../place.ts";
import { readConfig } from "../read-config.ts";
import { UsageError } from "../usage-error.ts";
import type { Fault } from "../validation/checker.ts";
import { isForeign } from "../validation/is-foreign.ts";
import { pruned, refusalFaults } from "../validation/webhook-faults.ts";

/** Text of `virtkit default --help`. */
export const help = `Usage: virtkit default -f FILE [-f FILE]... [OPTION]...

Prints the objects as they are stored once KubeVirt has filled in its defaults. VirtualMachines,
VirtualMachineInstances and VirtualMachineInstanceMigrations have defaults; objects of other kinds
are printed as they are. Fields that KubeVirt does not know are dropped, as the API server drops them.

  -f, --filename FILE      YAML or JSON with any number of objects; - is stdin; may be repeated
      --config FILE        the KubeVirt object, or its spec.configuration, of the cluster
      --patch              print the JSON patch of each object instead
  -o, --output FORMAT      yaml (default) or json

Firmware without a UUID gets a new UUID each time.
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
  if (!values.filename) throw new UsageError("pass the files with -f FILE");
  const config = await readConfig(values.config, io);
  const { documents, problems } = await readManifests(values.filename, io);
  const complaints = problems.map((problem) => `${place(problem)}: ${problem.message}\n`);
  const results: unknown[] = [];
  for (const document of documents) {
    const result = defaulted(document, config);
    if ("object" in result) results.push(values.patch ? result.patch : result.object);
    else {
      const lines = result.faults.map(({ path, message }) => complaint(document, path, message));
      complaints.push(...lines);
    }
  }
  await writeObjects(io, results, format);
  if (complaints.length > 0) await writeAll(io.stderr, complaints.join(""));
  return complaints.length === 0 ? 0 : 1;
}

type Defaulted = { object: unknown; patch: unknown } | { faults: readonly Fault[] };

function defaulted({ value }: ManifestDocument, config: ClusterConfig): Defaulted {
  const { group } = config.names;
  if (isForeign(value, group)) return { object: value, patch: [] };
  if (!schemaFor(value, { group })) return { faults: checkObject(value, { group }).issues };
  const object = pruned(value, group);
  const { kind } = value as { kind: string };
  if (!kinds.has(kind)) return { object, patch: [] };
  const mutation = mutate({ kind: kind as AdmissionKind, operation: "CREATE", object }, config);
  return mutation.allowed ? mutation : { faults: refusalFaults(object, mutation, group) };
}
