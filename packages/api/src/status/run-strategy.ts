import type { VirtualMachine } from "../schema/index.ts";
import { at, isSet, text } from "../shape.ts";

/** All run strategies of a VM. */
export const runStrategies = [
  "Always",
  "RerunOnFailure",
  "Manual",
  "Halted",
  "Once",
  "WaitAsReceiver",
] as const;

/** One of {@link runStrategies}. */
export type RunStrategy = (typeof runStrategies)[number];

/** The strategy of a VM as written, or how it contradicts itself. */
export type RunStrategyOf = { readonly strategy: string } | { readonly contradiction: string };

/**
 * The run strategy of a VM: `runStrategy`, or what the older `running` stands for. `Halted` if neither is set,
 * an error if both are. The strategy may be an unknown string.
 */
export function runStrategyOf(vm: VirtualMachine): RunStrategyOf {
  const running = at(vm, "spec", "running");
  const strategy = at(vm, "spec", "runStrategy");
  if (isSet(running) && isSet(strategy)) {
    return { contradiction: "spec.running and spec.runStrategy are both set; remove spec.running" };
  }
  if (isSet(running)) return { strategy: running === true ? "Always" : "Halted" };
  return { strategy: isSet(strategy) ? text(strategy) : "Halted" };
}

/** {@link runStrategyOf}, with an empty string for a contradiction, to which no rule applies. */
export function runStrategyName(vm: VirtualMachine): string {
  const found = runStrategyOf(vm);
  return "strategy" in found ? found.strategy : "";
}

/** Whether a VM with this strategy is restarted after a failure, or counts its failures as if. */
export function countsStartFailures(strategy: string): boolean {
  return strategy === "Always" || strategy === "RerunOnFailure" || strategy === "Once";
}
