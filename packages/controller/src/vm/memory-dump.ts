import type { Volume } from "@virtkit/api/schema";
import { at, entry, objects, text } from "@virtkit/api/shape";
import { isRunning } from "@virtkit/api/status";
import { inNamespaceOf, memoryDumpRequestOf, volumesOf } from "@virtkit/api/status/vm";
import { valuePatch } from "../plan/field-patch.ts";
import { mapPatch } from "../plan/map-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import { claimResource } from "../plan/resources.ts";
import { withTemplate, withValue } from "./template-change.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** What the claim says about a failed dump: KubeVirt's clients look for these words. */
const failedDump = "Memory dump failed";

/** Attaches and detaches the claim for a memory dump, and records on it which dump it holds. */
export function dumpMemory(pass: VmPass): Stop | undefined {
  const request = memoryDumpRequestOf(pass.vm);
  const name = text(request?.claimName);
  const problem = ((): string | undefined => {
    switch (request?.phase) {
      case "Associating":
        return associate(pass, name);
      case "Unmounting":
      case "Failed":
        return noteDump(pass, name) ?? unplug(pass, name);
      case "Dissociating":
        return unplug(pass, name) ?? dissociate(pass, name);
      default:
        return undefined;
    }
  })();
  return problem === undefined ? undefined : failed("MemoryDumpError", problem);
}

function associate(pass: VmPass, name: string): string | undefined {
  const { vm, vmi } = pass;
  if (!vmi || isDeleting(vmi) || !isRunning(vmi)) return undefined;
  const volume: Volume = { name, memoryDump: { claimName: name, hotpluggable: true } };
  const declared = volumesOf(vm);
  if (!has(declared, name)) pass.vm = withTemplate(vm, ["volumes"], [...declared, volume]);
  const plugged = pluggedVolumes(pass);
  return has(plugged, name) ? undefined : changeVmi(pass, [...plugged, volume]);
}

function unplug(pass: VmPass, name: string): string | undefined {
  const plugged = pluggedVolumes(pass);
  if (!has(plugged, name)) return undefined;
  return changeVmi(
    pass,
    plugged.filter((volume) => volume.name !== name),
  );
}

function dissociate(pass: VmPass, name: string): undefined {
  const declared = volumesOf(pass.vm);
  if (!has(declared, name)) return;
  pass.vm = withTemplate(
    pass.vm,
    ["volumes"],
    declared.filter((volume) => volume.name !== name),
  );
}

function noteDump(pass: VmPass, name: string): string | undefined {
  const claim = inNamespaceOf(pass.vm, name, pass.view.claims);
  if (!claim) return `claim ${name} for the memory dump does not exist`;
  const request = memoryDumpRequestOf(pass.vm);
  const value = request?.phase === "Failed" ? failedDump : request?.fileName;
  const key = pass.config.names.annotations.memoryDump;
  const before = claim.metadata?.annotations;
  if (value === undefined || entry(before, key) === value) return undefined;
  // Failing to record it is not a reason to keep the claim attached.
  pass.draft.write({
    kind: "patch",
    resource: claimResource,
    object: nameOf(claim),
    operations: mapPatch(["metadata", "annotations"], before, { ...before, [key]: value }),
  });
  return undefined;
}

function changeVmi(pass: VmPass, volumes: readonly Volume[]): string | undefined {
  const refusal = pass.patchVmi(
    valuePatch("/spec/volumes", at(pass.vmi, "spec", "volumes"), [...volumes]),
  );
  if (refusal) return `the VMI's volumes could not be changed: ${refusal.message}`;
  pass.vmi = pass.vmi && withValue(pass.vmi, ["spec", "volumes"], volumes);
  return undefined;
}

function pluggedVolumes({ vmi }: VmPass): readonly Volume[] {
  return objects<Volume>(at(vmi, "spec", "volumes"));
}

function has(volumes: readonly Volume[], name: string): boolean {
  return volumes.some((volume) => volume.name === name);
}
