import { acpiTables } from "./compute/acpi-tables.ts";
import { clock } from "./compute/clock.ts";
import { cpu } from "./compute/cpu.ts";
import { cpuPinning } from "./compute/cpu-pinning.ts";
import { features } from "./compute/features.ts";
import { firmware } from "./compute/firmware.ts";
import { hypervisor } from "./compute/hypervisor.ts";
import { identity } from "./compute/identity.ts";
import { ioThreads } from "./compute/io-threads.ts";
import { iommufd } from "./compute/iommufd.ts";
import { kernelBoot } from "./compute/kernel-boot.ts";
import { launchSecurity } from "./compute/launch-security.ts";
import { machine } from "./compute/machine.ts";
import { memory } from "./compute/memory.ts";
import { memoryBacking } from "./compute/memory-backing.ts";
import { qemuCommandline } from "./compute/qemu-commandline.ts";
import { rebootPolicy } from "./compute/reboot-policy.ts";
import { sysinfo } from "./compute/sysinfo.ts";
import { balloon } from "./devices/balloon.ts";
import { channels } from "./devices/channels.ts";
import { serialConsole } from "./devices/console.ts";
import { controllers } from "./devices/controllers.ts";
import { graphics } from "./devices/graphics.ts";
import { hostDevices } from "./devices/host-devices.ts";
import { inputs } from "./devices/inputs.ts";
import { panic } from "./devices/panic.ts";
import { rng } from "./devices/rng.ts";
import { sound } from "./devices/sound.ts";
import { tpm } from "./devices/tpm.ts";
import { usbRedirection } from "./devices/usb-redirection.ts";
import { virtiofs } from "./devices/virtiofs.ts";
import { vsock } from "./devices/vsock.ts";
import { watchdog } from "./devices/watchdog.ts";
import type { Configurator } from "./draft.ts";
import { interfaces } from "./network/interfaces.ts";
import { grace } from "./placement/nvidia-grace.ts";
import { pciNuma } from "./placement/pci-numa.ts";
import { rootComplex } from "./placement/root-complex.ts";
import { disks } from "./storage/disks.ts";

/**
 * Everything that makes up a domain, in order. Up to the disks each is independent; the following ones arrange
 * what exists: memory and CPUs on the host, devices on buses.
 */
export const configurators: readonly Configurator[] = [
  identity,
  hypervisor,
  machine,
  firmware,
  kernelBoot,
  acpiTables,
  sysinfo,
  launchSecurity,
  features,
  clock,
  cpu,
  ioThreads,
  memory,
  rebootPolicy,
  iommufd,
  qemuCommandline,
  controllers,
  interfaces,
  hostDevices,
  graphics,
  inputs,
  sound,
  serialConsole,
  channels,
  usbRedirection,
  virtiofs,
  tpm,
  vsock,
  rng,
  balloon,
  watchdog,
  panic,
  disks,
  memoryBacking,
  cpuPinning,
  grace,
  pciNuma,
  rootComplex,
];
