import type { Devices, DomainSpec, Input, Watchdog } from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";
import type { DomainInput, DomainVideo } from "../model/display-device.ts";
import type { DomainLaunchSecurity } from "../model/domain.ts";
import type { DomainWatchdog } from "../model/platform-device.ts";

/** What differs between guests by their architecture; everything else is the same for all. */
export interface Architecture {
  readonly name: "amd64" | "arm64" | "s390x";
  /** As libvirt names it. */
  readonly osArch: string;
  /** Machine type of a VMI that does not set one. */
  readonly defaultMachine: string;
  /** Whether CPUs can be plugged in later. */
  readonly hotplugsCpus: boolean;
  /** Whether the guest reads SMBIOS tables. */
  readonly hasSmbios: boolean;
  /** Whether a VMware I/O port must be turned off. */
  readonly hasVmport: boolean;
  /** Whether network cards have a boot ROM. */
  readonly hasBootRom: boolean;
  /** Whether the CPU flag `mpx`, which newer hosts no longer have, is turned off in named models. */
  readonly disablesMpx: boolean;
  /** Whether the firmware can log through a debug port. */
  readonly hasDebugPort: boolean;
  /** Whether the 64-bit PCI window can be turned off. */
  readonly disablesPciHole64: boolean;
  /** Whether devices sit on PCIe ports. */
  readonly hasPcie: boolean;
  /** Largest block size that a VMI may set, in bytes. */
  readonly maxBlockSize: number;
  virtioModel(transitional: boolean): string;
  scsiModel(virtioModel: string): string;
  needsUsb(devices: Devices, context: ConverterContext): boolean;
  video(spec: DomainSpec, context: ConverterContext): DomainVideo;
  /** Inputs that a guest with a display gets in addition to those that it asks for. */
  screenInputs(inputs: readonly Input[]): DomainInput[];
  /** @throws ConverterError if there is no such watchdog. */
  watchdog(watchdog: Watchdog): DomainWatchdog;
  launchSecurity(
    spec: DomainSpec,
    quoteService: string | undefined,
  ): DomainLaunchSecurity | undefined;
}
