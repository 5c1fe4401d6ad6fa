import type { ClusterConfig } from "../../../config/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../../../schema/index.ts";
import { at, type JsonObject } from "../../../shape.ts";
import type { Write } from "../../plan.ts";
import { planMigrate } from "../migrate.ts";
import { notFound, type Refusal, type SubresourceOutcome } from "../outcome.ts";
import { planRestart, restartRequestFault } from "../restart.ts";
import { planStart, startObstacle } from "../start.ts";
import { planStop } from "../stop.ts";
import { type OptionType, readOptions } from "./read-options.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

type Vmi = VirtualMachineInstance | undefined;

interface VmVerb {
  readonly fields: Readonly<Record<string, OptionType>>;
  /** What is refused before the body is read. */
  before?(vm: VirtualMachine, vmi: Vmi): Refusal | undefined;
  /** What is refused because of the body alone, before the VM is looked up. */
  fault?(options: JsonObject): Refusal | undefined;
  plan(
    vm: VirtualMachine,
    vmi: Vmi,
    options: JsonObject,
    names?: ClusterConfig["names"],
  ): SubresourceOutcome;
}

/** The verbs that change what a VM does. */
export const vmVerbs: Readonly<Record<"start" | "stop" | "restart" | "migrate", VmVerb>> = {
  start: {
    fields: { paused: "boolean", dryRun: "list" },
    before: startObstacle,
    plan: planStart,
  },
  stop: { fields: { gracePeriod: "whole number", dryRun: "list" }, plan: planStop },
  restart: {
    fields: { gracePeriodSeconds: "whole number", dryRun: "list" },
    fault: restartRequestFault,
    plan: planRestart,
  },
  migrate: { fields: { addedNodeSelector: "object", dryRun: "list" }, plan: planMigrate },
};

/**
 * Plans one of {@link vmVerbs}. `start` checks the VM first and then the body; the others do it the other way
 * round.
 */
export async function planVmVerb(
  verb: keyof typeof vmVerbs,
  { namespace, name, body }: SubresourceRequest,
  { lookup, config, parse }: SubresourceContext,
): Promise<SubresourcePlan> {
  const { fields, before, fault, plan } = vmVerbs[verb];
  const read = readOptions(body, fields, parse);
  const badBody = "kind" in read ? read : fault?.(read.options);
  if (!before && badBody) return badBody;
  const vm = await lookup.virtualMachine(namespace, name);
  if (!vm) return notFound("virtualmachine", name);
  const vmi = await lookup.virtualMachineInstance(namespace, name);
  const refusal = before?.(vm, vmi) ?? badBody;
  if (refusal) return refusal;
  const outcome = plan(vm, vmi, "kind" in read ? {} : read.options, config.names);
  if (outcome.kind === "refused") return outcome;
  const undo = verb === "restart" ? undoGracePeriod(vmi, outcome.writes) : undefined;
  return { kind: "writes", code: 202, writes: outcome.writes, ...(undo ? { undo } : {}) };
}

/** A restart that failed must not leave a VMI that would be killed at its end. */
function undoGracePeriod(vmi: Vmi, [first, second]: readonly Write[]): Write | undefined {
  if (first?.kind !== "patch" || !second) return undefined;
  const path = "/spec/terminationGracePeriodSeconds";
  const old = at(vmi, "spec", "terminationGracePeriodSeconds");
  const set = first.patch.find((operation) => operation.op === "replace");
  if (!set || !("value" in set)) return undefined;
  return {
    ...first,
    patch: [
      { op: "test", path, value: set.value },
      old === undefined ? { op: "remove", path } : { op: "replace", path, value: old },
    ],
  };
}
