import { ClusterConfig, readClusterConfig } from "@virtkit/api/config";
import { fieldPath } from "../field-path.ts";
import type { CheckerContext, Fault } from "./checker.ts";

/** What a running cluster would refuse in its KubeVirt object, so that it would continue with the old one. */
export function check(object: unknown, { config }: CheckerContext): readonly Fault[] {
  const read = readClusterConfig(object, { names: config.names });
  if (read instanceof ClusterConfig) return [];
  return read.map(({ path, message }) => ({
    code: "configuration",
    path: fieldPath(path),
    message,
  }));
}
