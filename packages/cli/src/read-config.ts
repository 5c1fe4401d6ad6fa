import { ClusterConfig, clusterConfig, readClusterConfig } from "@virtkit/api/config";
import { fieldPath } from "./field-path.ts";
import type { Io } from "./io.ts";
import { readOneObject } from "./one-object.ts";
import { place } from "./place.ts";

/**
 * The cluster configuration in the file of a `--config` option; by default KubeVirt's. Throws with the place of
 * everything in it that is not valid.
 */
export async function readConfig(file: string | undefined, io: Io): Promise<ClusterConfig> {
  if (file === undefined) return clusterConfig();
  const wanted = "the KubeVirt object of the cluster, or its spec.configuration";
  const document = await readOneObject("--config", file, wanted, io);
  const read = readClusterConfig(document.value);
  if (read instanceof ClusterConfig) return read;
  const isWhole = ["spec", "kind", "status"].some((field) => Object.hasOwn(document.value, field));
  const problems = read.map(({ path, message }) => {
    const steps = fieldPath(path).slice(isWhole ? 0 : "spec.configuration".split(".").length);
    return `${place({ source: document.source, ...document.position(steps) })}: ${message}`;
  });
  throw new Error(`--config cannot be used:\n${problems.join("\n")}`);
}
