import { type PullPolicy, PullPolicySchema } from "../core/pull-policy.ts";
import { boolean, object, required, type Schema, string } from "../schema.ts";

/** ACPI tables for the guest, for software licences. */
export interface ACPI {
  /** Volume with an MSDM table. */
  msdmNameRef?: string;
  /** Volume with a SLIC table. */
  slicNameRef?: string;
}

export const ACPISchema: Schema<ACPI> = object<ACPI>({
  msdmNameRef: string,
  slicNameRef: string,
});

/** Legacy BIOS. */
export interface BIOS {
  /** Whether the firmware uses the serial console. */
  useSerial?: boolean;
}

export const BIOSSchema: Schema<BIOS> = object<BIOS>({
  useSerial: boolean,
});

/** UEFI firmware. */
export interface EFI {
  /** Keeps the firmware's variables across restarts. */
  persistent?: boolean;
  /** Boots only signed code; on if absent. Needs `features.smm`. */
  secureBoot?: boolean;
}

export const EFISchema: Schema<EFI> = object<EFI>({
  persistent: boolean,
  secureBoot: boolean,
});

/** BIOS or EFI. */
export interface Bootloader {
  bios?: BIOS;
  efi?: EFI;
}

export const BootloaderSchema: Schema<Bootloader> = object<Bootloader>({
  bios: BIOSSchema,
  efi: EFISchema,
});

/** The image with the kernel and the initial RAM disk. */
export interface KernelBootContainer {
  image: string;
  imagePullPolicy?: PullPolicy;
  imagePullSecret?: string;
  /** Path of the initial RAM disk in the image. */
  initrdPath?: string;
  /** Path of the kernel in the image. */
  kernelPath?: string;
}

export const KernelBootContainerSchema: Schema<KernelBootContainer> = object<KernelBootContainer>({
  image: required(string),
  imagePullPolicy: PullPolicySchema,
  imagePullSecret: string,
  initrdPath: string,
  kernelPath: string,
});

/** Boots a kernel directly, without a boot loader. */
export interface KernelBoot {
  container?: KernelBootContainer;
  /** The kernel's command line. */
  kernelArgs?: string;
}

export const KernelBootSchema: Schema<KernelBoot> = object<KernelBoot>({
  container: KernelBootContainerSchema,
  kernelArgs: string,
});

/** What runs before the operating system, and how it identifies itself to the guest. */
export interface Firmware {
  acpi?: ACPI;
  bootloader?: Bootloader;
  kernelBoot?: KernelBoot;
  /** Reported in SMBIOS. */
  serial?: string;
  /** Reported in SMBIOS; generated once if absent, so that it stays the same. */
  uuid?: string;
}

export const FirmwareSchema: Schema<Firmware> = object<Firmware>({
  acpi: ACPISchema,
  bootloader: BootloaderSchema,
  kernelBoot: KernelBootSchema,
  serial: string,
  uuid: string,
});
