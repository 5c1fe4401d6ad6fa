import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid, join, oneOf, quote } from "./cause.ts";

const strategies: ReadonlySet<string> = new Set([
  "Halted",
  "Manual",
  "Always",
  "RerunOnFailure",
  "Once",
]);

/** A VM says when it runs with `runStrategy` or the older `running`. */
export function runStrategy(spec: VirtualMachineSpec, config: ClusterConfig): readonly Cause[] {
  const ways = [spec.running, spec.runStrategy].filter(isSet).length;
  return join(
    ways === 1
      ? fine
      : invalid(
          "spec.running",
          ways === 0
            ? "and runStrategy are missing; set runStrategy"
            : "and runStrategy are both set; remove running",
        ),
    knownStrategy(spec.runStrategy, config),
  );
}

/** The effective run strategy; `running` stands for Always or Halted. */
export function effectiveRunStrategy({
  running,
  runStrategy: strategy,
}: VirtualMachineSpec): string {
  if (isSet(running) && isSet(strategy)) return "Unknown";
  if (isSet(running)) return running ? "Always" : "Halted";
  return strategy ?? "Halted";
}

function knownStrategy(strategy: string | undefined, config: ClusterConfig): readonly Cause[] {
  if (!isSet(strategy) || strategies.has(strategy)) return fine;
  if (strategy !== "WaitAsReceiver") {
    return invalid("spec.runStrategy", `is ${quote(strategy)}; use ${oneOf(strategies)}`);
  }
  if (config.gate("DecentralizedLiveMigration")) return fine;
  return invalid(
    "spec.runStrategy",
    "is WaitAsReceiver, which needs the feature gate DecentralizedLiveMigration; turn it on",
  );
}
