import { isDeepStrictEqual } from "node:util";
import type { Disk, VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { at, isSet, objects, text } from "@virtkit/api/shape";
import { isRunning } from "@virtkit/api/status";
import { valuePatch } from "../plan/field-patch.ts";
import { withValue } from "./template-change.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";
import { declaresVolumes } from "./volume-requests.ts";

const disksPath = ["domain", "devices", "disks"] as const;

/**
 * Attaches the volumes that the template declares hotpluggable, and detaches those that it no
 * longer has.
 */
export function plugDeclaredVolumes(pass: VmPass): Stop | undefined {
  const { vm, vmi } = pass;
  const isMigration = at(vm, "spec", "updateVolumesStrategy") === "Migration";
  if (!vmi || !isRunning(vmi) || !declaresVolumes(pass) || isMigration) return undefined;
  const template = at(vm, "spec", "template", "spec");
  const wanted = objects<Volume>(at(template, "volumes"));
  const volumes = volumesFor(vmi, wanted);
  const disks = disksFor(vmi, template, volumes);
  const [oldVolumes, oldDisks] = [at(vmi, "spec", "volumes"), at(vmi, "spec", ...disksPath)];
  const refusal = pass.patchVmi([
    ...listPatch("/spec/volumes", oldVolumes, volumes),
    ...listPatch("/spec/domain/devices/disks", oldDisks, disks),
  ]);
  if (refusal) {
    return failed(
      "HotPlugVolumeError",
      `the VMI's volumes could not be changed: ${refusal.message}`,
    );
  }
  const changed = withValue(vmi, ["spec", "volumes"], volumes);
  pass.vmi = withValue(changed, ["spec", ...disksPath], disks);
  return undefined;
}

/** A changed volume is detached first and attached again once the VMI no longer reports it. */
function volumesFor(vmi: VirtualMachineInstance, wanted: readonly Volume[]): readonly Volume[] {
  const present = objects<Volume>(at(vmi, "spec", "volumes"));
  const declared = byName(wanted);
  const kept = present.filter((volume) => {
    if (!isDeclaredHotplug(volume)) return true;
    const counterpart = declared.get(text(volume.name));
    if (!counterpart) return false;
    return !isDeclaredHotplug(counterpart) || isDeepStrictEqual(counterpart, volume);
  });
  const taken = new Set(
    [...present, ...objects<{ name?: string }>(at(vmi, "status", "volumeStatus"))].map(
      ({ name }) => name,
    ),
  );
  const added = wanted.filter((volume) => isDeclaredHotplug(volume) && !taken.has(volume.name));
  return [...kept, ...added];
}

/** A CD-ROM drive stays without its volume: it is then empty. */
function disksFor(
  vmi: VirtualMachineInstance,
  template: unknown,
  volumes: readonly Volume[],
): readonly Disk[] {
  const present = objects<Disk>(at(vmi, "spec", ...disksPath));
  const wanted = objects<Disk>(at(template, ...disksPath));
  const [filled, declared] = [byName(volumes), byName(objects<Volume>(at(template, "volumes")))];
  const wantedByName = byName(wanted);
  const kept = present.filter((disk) => {
    const name = text(disk.name);
    if (filled.has(name)) return true;
    const counterpart = wantedByName.get(name);
    if (!counterpart) return false;
    const isDrive = isSet(disk.cdrom) && isSet(counterpart.cdrom);
    return !declared.has(name) || isDrive;
  });
  const presentByName = byName(present);
  const added = wanted.filter((disk) => {
    const name = text(disk.name);
    return isDeclaredHotplug(filled.get(name)) && !presentByName.has(name);
  });
  return [...kept, ...added];
}

/** A memory dump is attached separately, see `dumpMemory`. */
function isDeclaredHotplug(volume: Volume | undefined): boolean {
  return (
    at(volume, "persistentVolumeClaim", "hotpluggable") === true ||
    at(volume, "dataVolume", "hotpluggable") === true
  );
}

function listPatch(
  path: string,
  before: unknown,
  after: readonly unknown[],
): ReturnType<typeof valuePatch> {
  return objects(before).length === 0 && after.length === 0
    ? []
    : valuePatch(path, before, [...after]);
}

function byName<T extends { readonly name?: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [text(item.name), item]));
}
