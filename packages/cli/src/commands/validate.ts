import { type ManifestProblem, readManifests } from "@virtkit/node-agent/manifests";
import { type Io, writeAll } from "../io.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { place } from "../place.ts";
import { readConfig } from "../read-config.ts";
import { UsageError } from "../usage-error.ts";
import {
  type Finding,
  type Validation,
  validateDocuments,
} from "../validation/validate-documents.ts";

/** Text of `virtkit validate --help`. */
export const help = `Usage: virtkit validate -f FILE [-f FILE]... [OPTION]...

Checks the KubeVirt objects in manifests and prints where each fault is. Reports as many faults as possible at
once. Objects of other API groups are ignored.

  -f, --filename FILE      YAML or JSON with any number of objects; - is stdin; may be repeated
      --strict             also report unknown fields, and objects of other API groups
      --schema-only        check only types and bounds, not the admission rules
      --config FILE        the KubeVirt object, or its spec.configuration, of the cluster to check for
  -o, --output FORMAT      text (default; FILE:LINE:COLUMN: what is wrong), json or yaml

Exit codes: 0 all objects are valid, 1 some are not or could not be read, 2 wrong usage.`;

/** Checks the manifests and prints what is wrong with them; exits 1 if anything is. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f", multiple: true },
      strict: { type: "boolean" },
      "schema-only": { type: "boolean" },
      config: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const format = outputFormat(values.output, ["text", "json", "yaml"]);
  if (!values.filename) throw new UsageError("pass the files to check with -f FILE");
  const config = await readConfig(values.config, io);
  const { documents, problems } = await readManifests(values.filename, io);
  const validation = await validateDocuments(documents, {
    strict: values.strict === true,
    schemaOnly: values["schema-only"] === true,
    config,
  });
  const findings = inOrder([...problems.map(unreadable), ...validation.findings], values.filename);
  const valid = findings.length === 0;
  const result = { valid, ...validation, findings };
  if (format === "text") await writeText(result, io);
  else await writeObjects(io, [result], format);
  return valid ? 0 : 1;
}

function unreadable({ source, line, column, message }: ManifestProblem): Finding {
  return { source, line, column, code: "unreadable", message };
}

async function writeText(
  { findings, checked, skipped }: Validation,
  { stdout, stderr }: Io,
): Promise<void> {
  for (const finding of findings) {
    const object = finding.object === undefined ? "" : `${finding.object}: `;
    await writeAll(stdout, `${place(finding)}: ${object}${finding.message}\n`);
  }
  const passed = skipped === 0 ? "" : `, ${skipped} of other API groups ignored`;
  const found = findings.length === 0 ? "all valid" : count(findings.length, "fault");
  await writeAll(stderr, `${count(checked, "object")} checked, ${found}${passed}\n`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** By file in the given order, then by place. */
function inOrder(findings: readonly Finding[], sources: readonly string[]): Finding[] {
  return findings.toSorted(
    (a, b) =>
      sources.indexOf(a.source) - sources.indexOf(b.source) ||
      a.line - b.line ||
      a.column - b.column,
  );
}
