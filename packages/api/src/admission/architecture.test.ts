import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const at = "NotSupported spec.domain";
const on = (architecture: string, devices: Change = {}, domain: Change = {}): Change => ({
  architecture,
  domain: { machine: { type: "" }, devices, ...domain },
});
const disk = (target: Change): Change => ({ disks: [{ name: "root", ...target }] });
const watchdog = (...kinds: string[]): Change => ({
  watchdog: { name: "w", ...Object.fromEntries(kinds.map((kind) => [kind, {}])) },
});

test.each<[Change, string[]]>([
  [on("amd64"), []],
  [on("ppc64le"), ["Invalid spec.architecture"]],
  [on(""), ["Invalid spec.architecture"]],
  [on("amd64", watchdog("i6300esb")), []],
  [on("amd64", watchdog()), [`${at}.devices.watchdog`]],
  [on("amd64", watchdog("diag288")), [`${at}.devices.watchdog`]],
  [on("amd64", watchdog("i6300esb", "diag288")), [`${at}.devices.watchdog`]],
  [on("amd64", { video: { type: "bochs" } }), []],
  [on("amd64", { video: {} }), [`${at}.devices.video.type`]],
  [on("s390x", watchdog("diag288")), []],
  [on("s390x", watchdog("i6300esb")), [`${at}.devices.watchdog`]],
  [on("s390x", { video: { type: "vga" } }), [`${at}.devices.video.type`]],
  [on("arm64"), []],
  [on("arm64", {}, { firmware: { bootloader: { bios: {} } } }), [`${at}.firmware.bootloader.bios`]],
  [on("arm64", {}, { cpu: { model: "host-model" } }), [`${at}.cpu.model`]],
  [on("arm64", {}, { cpu: { model: "host-passthrough" } }), []],
  [on("arm64", disk({ disk: { bus: "sata" } })), [`${at}.devices.disks[0].disk.bus`]],
  [on("arm64", disk({ cdrom: { bus: "usb" } })), [`${at}.devices.disks[0].cdrom.bus`]],
  [on("arm64", disk({ cdrom: { bus: "scsi" } })), []],
  [on("arm64", watchdog("i6300esb")), [`${at}.devices.watchdog`]],
  [on("arm64", { sound: { name: "s" } }), [`${at}.devices.sound`]],
  [on("arm64", { video: { type: "ramfb" } }), []],
  [on("arm64", { video: { type: "vga" } }), [`${at}.devices.video.type`]],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});
