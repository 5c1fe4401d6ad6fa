import type { AddVolumeOptions, RemoveVolumeOptions } from "../../../schema/index.ts";
import { notFound, type SubresourceOutcome } from "../outcome.ts";
import { planVmiVolume, planVmVolume, type VolumeRequest, volumeRequestFault } from "../volumes.ts";
import { readOptions } from "./read-options.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

/** `addvolume` and `removevolume`, of a VM or a VMI. */
export async function planVolumeVerb(
  verb: "addvolume" | "removevolume",
  request: SubresourceRequest,
  { lookup, config, parse }: SubresourceContext,
): Promise<SubresourcePlan> {
  const { route, namespace, name, body } = request;
  const fields = {
    name: "string",
    disk: "object",
    volumeSource: "object",
    dryRun: "list",
  } as const;
  const read = readOptions(body, fields, parse);
  if ("kind" in read) return read;
  const volume: VolumeRequest =
    verb === "addvolume"
      ? { add: read.options as unknown as AddVolumeOptions }
      : { remove: read.options as unknown as RemoveVolumeOptions };
  const gates = {
    hotplug: config.gate("HotplugVolumes"),
    declarative: config.gate("DeclarativeHotplugVolumes"),
  };
  const fault = volumeRequestFault(volume, gates);
  if (fault) return fault;
  if (route.resource === "virtualmachines") {
    const vm = await lookup.virtualMachine(namespace, name);
    return vm ? writesOf(planVmVolume(vm, volume, gates)) : notFound("virtualmachine", name);
  }
  const vmi = await lookup.virtualMachineInstance(namespace, name);
  return vmi
    ? writesOf(planVmiVolume(vmi, volume, gates, config.names))
    : notFound("virtualmachineinstance", name);
}

function writesOf(outcome: SubresourceOutcome): SubresourcePlan {
  return outcome.kind === "refused"
    ? outcome
    : { kind: "writes", code: 202, writes: outcome.writes };
}
