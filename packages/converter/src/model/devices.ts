import {
  channelElement,
  consoleElement,
  type DomainChannel,
  type DomainConsole,
  type DomainRedirectedDevice,
  type DomainSerial,
  redirectedDeviceElement,
  serialElement,
} from "./character-device.ts";
import { controllerElement, type DomainController } from "./controller.ts";
import { type DomainDisk, diskElement } from "./disk.ts";
import {
  type DomainGraphics,
  type DomainInput,
  type DomainSound,
  type DomainVideo,
  graphicsElement,
  inputElement,
  soundElement,
  videoElement,
} from "./display-device.ts";
import { child, children, type ElementType, element, leaf } from "./element.ts";
import type { Extensible } from "./extensible.ts";
import { type DomainHostDevice, hostDeviceElement } from "./host-device.ts";
import { type DomainInterface, interfaceElement } from "./interface.ts";
import {
  type DomainFilesystem,
  type DomainIommu,
  type DomainMemballoon,
  type DomainPanic,
  type DomainRng,
  type DomainTpm,
  type DomainVsock,
  type DomainWatchdog,
  filesystemElement,
  iommuElement,
  memballoonElement,
  panicElement,
  rngElement,
  tpmElement,
  vsockElement,
  watchdogElement,
} from "./platform-device.ts";

/** Everything that is plugged into the machine. Order within a list is the guest's order. */
export interface DomainDevices extends Extensible {
  emulator?: string | undefined;
  disks: DomainDisk[];
  controllers: DomainController[];
  filesystems: DomainFilesystem[];
  interfaces: DomainInterface[];
  serials: DomainSerial[];
  consoles: DomainConsole[];
  channels: DomainChannel[];
  inputs: DomainInput[];
  tpms: DomainTpm[];
  graphics: DomainGraphics[];
  sounds: DomainSound[];
  videos: DomainVideo[];
  hostDevices: DomainHostDevice[];
  redirectedDevices: DomainRedirectedDevice[];
  watchdogs: DomainWatchdog[];
  memballoon?: DomainMemballoon | undefined;
  rng?: DomainRng | undefined;
  panics: DomainPanic[];
  iommus: DomainIommu[];
  vsock?: DomainVsock | undefined;
}

export const devicesElement: ElementType<DomainDevices> = element(() => ({
  emulator: leaf(),
  disks: children("disk", diskElement),
  controllers: children("controller", controllerElement),
  filesystems: children("filesystem", filesystemElement),
  interfaces: children("interface", interfaceElement),
  serials: children("serial", serialElement),
  consoles: children("console", consoleElement),
  channels: children("channel", channelElement),
  inputs: children("input", inputElement),
  tpms: children("tpm", tpmElement),
  graphics: children("graphics", graphicsElement),
  sounds: children("sound", soundElement),
  videos: children("video", videoElement),
  hostDevices: children("hostdev", hostDeviceElement),
  redirectedDevices: children("redirdev", redirectedDeviceElement),
  watchdogs: children("watchdog", watchdogElement),
  memballoon: child(memballoonElement),
  rng: child(rngElement),
  panics: children("panic", panicElement),
  iommus: children("iommu", iommuElement),
  vsock: child(vsockElement),
}));
