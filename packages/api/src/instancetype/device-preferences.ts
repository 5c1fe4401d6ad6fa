import { at, isSet, type JsonObject, objects, text } from "../shape.ts";
import { changeItems, type Draft, part, setIfEmpty, setIfMissing } from "./spec-draft.ts";

/** Fields of devices that a preference sets if they are missing: preferred name, own name. */
const devices: readonly (readonly [preferred: string, own: string])[] = [
  ["preferredUseVirtioTransitional", "useVirtioTransitional"],
  ["preferredBlockMultiQueue", "blockMultiQueue"],
  ["preferredNetworkInterfaceMultiQueue", "networkInterfaceMultiqueue"],
  ["preferredRng", "rng"],
  ["preferredTPM", "tpm"],
  ["preferredAutoattachGraphicsDevice", "autoattachGraphicsDevice"],
  ["preferredAutoattachMemBalloon", "autoattachMemBalloon"],
  ["preferredAutoattachPodInterface", "autoattachPodInterface"],
  ["preferredAutoattachSerialConsole", "autoattachSerialConsole"],
  ["preferredAutoattachInputDevice", "autoattachInputDevice"],
];

/** Each of these binds an interface. */
const bindings = [
  "binding",
  "bridge",
  "masquerade",
  "sriov",
  "passtBinding",
  "passt",
  "slirp",
  "macvtap",
];

/** Fills in what the devices of a spec do not set. Adds no device except a panic device. */
export function applyDevicePreferences(spec: Draft, preferred: JsonObject): void {
  const target = part(spec, "domain", "devices");
  for (const [theirs, own] of devices) setIfMissing(target, own, preferred[theirs]);
  if (isSet(preferred["preferredDisableHotplug"])) {
    target["disableHotplug"] = preferred["preferredDisableHotplug"];
  }
  if (isSet(target["sound"])) {
    setIfEmpty(part(target, "sound"), "model", preferred["preferredSoundModel"]);
  }
  if (isSet(preferred["preferredVideoType"])) {
    setIfEmpty(part(target, "video"), "type", preferred["preferredVideoType"]);
  }
  changeItems(target, "disks", (disk) => applyToDisk(disk, preferred));
  changeItems(target, "interfaces", (iface) => applyToInterface(iface, spec, preferred));
  changeItems(target, "inputs", (input) => {
    setIfEmpty(input, "bus", preferred["preferredInputBus"]);
    setIfEmpty(input, "type", preferred["preferredInputType"]);
  });
  applyPanicModel(target, preferred["preferredPanicDeviceModel"]);
}

function applyToDisk(disk: Draft, preferred: JsonObject): void {
  const kind = ["disk", "cdrom", "lun"].find((name) => isSet(disk[name])) ?? "disk";
  const device = part(disk, kind);
  if (kind === "cdrom") setIfEmpty(device, "bus", preferred["preferredCdromBus"]);
  if (kind === "lun") setIfEmpty(device, "bus", preferred["preferredLunBus"]);
  if (kind !== "disk") return;
  setIfEmpty(device, "bus", preferred["preferredDiskBus"]);
  setIfMissing(disk, "blockSize", preferred["preferredDiskBlockSize"]);
  setIfEmpty(disk, "cache", preferred["preferredDiskCache"]);
  setIfEmpty(disk, "io", preferred["preferredDiskIO"]);
  // Only virtio disks have their own threads.
  if (device["bus"] === "virtio") {
    setIfMissing(disk, "dedicatedIOThread", preferred["preferredDiskDedicatedIoThread"]);
  }
}

function applyToInterface(iface: Draft, spec: Draft, preferred: JsonObject): void {
  setIfEmpty(iface, "model", preferred["preferredInterfaceModel"]);
  const masquerade = preferred["preferredInterfaceMasquerade"];
  const isBound = bindings.some((name) => isSet(iface[name]));
  if (isSet(masquerade) && !isBound && isOnPodNetwork(text(iface["name"]), spec)) {
    iface["masquerade"] = masquerade;
  }
}

function isOnPodNetwork(name: string, spec: Draft): boolean {
  const network = objects(spec["networks"]).find((item) => item["name"] === name);
  return isSet(at(network, "pod"));
}

function applyPanicModel(target: Draft, model: unknown): void {
  if (!isSet(model)) return;
  const present = target["panicDevices"];
  if (!Array.isArray(present) || present.length === 0) target["panicDevices"] = [{ model }];
  else changeItems(target, "panicDevices", (device) => setIfMissing(device, "model", model));
}
