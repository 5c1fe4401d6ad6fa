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
import { child, children, type ElementType, element, leaf, required } from "./element.ts";
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

/** Everything that is plugged into the guest. Order within a list is the guest's order. */
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
  disks: required(children("disk", diskElement)),
  controllers: required(children("controller", controllerElement)),
  filesystems: required(children("filesystem", filesystemElement)),
  interfaces: required(children("interface", interfaceElement)),
  serials: required(children("serial", serialElement)),
  consoles: required(children("console", consoleElement)),
  channels: required(children("channel", channelElement)),
  inputs: required(children("input", inputElement)),
  tpms: required(children("tpm", tpmElement)),
  graphics: required(children("graphics", graphicsElement)),
  sounds: required(children("sound", soundElement)),
  videos: required(children("video", videoElement)),
  hostDevices: required(children("hostdev", hostDeviceElement)),
  redirectedDevices: required(children("redirdev", redirectedDeviceElement)),
  watchdogs: required(children("watchdog", watchdogElement)),
  memballoon: child(memballoonElement),
  rng: child(rngElement),
  panics: required(children("panic", panicElement)),
  iommus: required(children("iommu", iommuElement)),
  vsock: child(vsockElement),
}));
