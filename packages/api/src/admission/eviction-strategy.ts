import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid, oneOf, quote } from "./cause.ts";

/** What may happen to a VM when its node is drained. */
export const evictionStrategies: ReadonlySet<string> = new Set([
  "None",
  "LiveMigrate",
  "LiveMigrateIfPossible",
  "External",
]);

/** The effective strategy, the object's own or the cluster's, must be known. */
export function evictionStrategy(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const strategy = spec.evictionStrategy ?? config.evictionStrategy;
  if (!isSet(strategy) || evictionStrategies.has(strategy)) return fine;
  return invalid(
    `${at}.evictionStrategy`,
    `is ${quote(strategy)}${isSet(spec.evictionStrategy) ? "" : ", from the cluster's configuration"}; use ${oneOf(evictionStrategies)}`,
  );
}
