import { memoryDumpTarget, planMemoryDump, planRemoveMemoryDump } from "../memory-dump.ts";
import { badRequest, notFound } from "../outcome.ts";
import { memoryDumpClaimFault } from "./memory-dump-claim.ts";
import { readOptions } from "./read-options.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

/** `memorydump`: the claim must exist, be a writable file system, and be large enough. */
export async function planMemoryDumpVerb(
  { namespace, name, body }: SubresourceRequest,
  { lookup, config, parse }: SubresourceContext,
): Promise<SubresourcePlan> {
  if (!config.gate("HotplugVolumes") && !config.gate("DeclarativeHotplugVolumes")) {
    return badRequest(
      "a memory dump needs the feature gate DeclarativeHotplugVolumes or HotplugVolumes",
    );
  }
  const read = readOptions(body, { claimName: "string" }, parse);
  if ("kind" in read) return read;
  const vm = await lookup.virtualMachine(namespace, name);
  if (!vm) return notFound("virtualmachine", name);
  const vmi = await lookup.virtualMachineInstance(namespace, name);
  const target = memoryDumpTarget(vm, vmi, read.options);
  if ("kind" in target) return target;
  const claim = await lookup.persistentVolumeClaim(namespace, target.claimName);
  if (!claim) return notFound("persistentvolumeclaim", target.claimName);
  const fault = memoryDumpClaimFault(vmi, claim, await lookup.cdiConfig());
  if (fault) return fault;
  const outcome = planMemoryDump(vm, vmi, read.options);
  return outcome.kind === "refused"
    ? outcome
    : { kind: "writes", code: 202, writes: outcome.writes };
}

/** `removememorydump`. */
export async function planRemoveMemoryDumpVerb(
  { namespace, name }: SubresourceRequest,
  { lookup }: SubresourceContext,
): Promise<SubresourcePlan> {
  const vm = await lookup.virtualMachine(namespace, name);
  if (!vm) return notFound("virtualmachine", name);
  const outcome = planRemoveMemoryDump(vm);
  return outcome.kind === "refused"
    ? outcome
    : { kind: "writes", code: 202, writes: outcome.writes };
}
