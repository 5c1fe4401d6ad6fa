import type { VirtualMachine, VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { claimNameOf, memoryDumpRequestOf, volumeRequestsOf } from "@virtkit/api/status/vm";

/**
 * The names of all claims and DataVolumes that a pass over a VM reads; a DataVolume's claim has its
 * name.
 */
export function usedClaims(
  vm: VirtualMachine,
  vmi?: VirtualMachineInstance | undefined,
): readonly string[] {
  const spec = at(vm, "spec", "template", "spec");
  const requested = volumeRequestsOf(vm).flatMap(({ addVolumeOptions }) => [
    text(at(addVolumeOptions, "volumeSource", "persistentVolumeClaim", "claimName")),
    text(at(addVolumeOptions, "volumeSource", "dataVolume", "name")),
  ]);
  const found = [
    ...[
      ...objects<Volume>(at(spec, "volumes")),
      ...objects<Volume>(at(vmi, "spec", "volumes")),
    ].map((volume) => claimNameOf(volume) || text(at(volume, "memoryDump", "claimName"))),
    ...objects(at(vm, "spec", "dataVolumeTemplates")).map((template) =>
      text(at(template, "metadata", "name")),
    ),
    ...requested,
    text(memoryDumpRequestOf(vm)?.claimName),
  ];
  return [...new Set(found.filter((name) => name !== ""))];
}

/** The DataSources that the VM's DataVolume templates name, as `namespace/name`. */
export function usedDataSources(
  vm: VirtualMachine,
): readonly { readonly namespace: string; readonly name: string }[] {
  return objects(at(vm, "spec", "dataVolumeTemplates")).flatMap((template) => {
    const ref = at(template, "spec", "sourceRef");
    const name = text(at(ref, "name"));
    const namespace = text(at(ref, "namespace")) || text(at(vm, "metadata", "namespace"));
    return name === "" ? [] : [{ namespace, name }];
  });
}
