import { ClusterConfig, clusterConfig, readClusterConfig } from "@virtkit/api/config";
import type { Io } from "./io.ts";
import { type ManifestProblem, readManifests } from "./manifests.ts";
import { UsageError } from "./usage-error.ts";

/** The cluster configuration in the file of a `--config` option; the defaults where none is named. */
export async function readConfig(file: string | undefined, io: Io): Promise<ClusterConfig> {
  if (file === undefined) return clusterConfig();
  const { documents, problems } = await readManifests([file], io);
  const [problem] = problems;
  if (problem) throw new Error(`${place(problem)}: ${problem.message}`);
  const [document, second] = documents;
  if (!document || second) {
    throw new UsageError(`--config ${file}: give a file with one object, not ${documents.length}`);
  }
  const read = readClusterConfig(document.value);
  if (read instanceof ClusterConfig) return read;
  throw new Error(`--config ${file}: ${read.map(({ message }) => message).join("; ")}`);
}

/** A place in a manifest, as editors and terminals understand it: `FILE:LINE:COLUMN`. */
export function place({
  source,
  line,
  column,
}: Pick<ManifestProblem, "source" | "line" | "column">): string {
  return `${source === "-" ? "stdin" : source}:${line}:${column}`;
}
