import { type PullPolicy, PullPolicySchema } from "../core/pull-policy.ts";
import { boolean, object, required, type Schema, string } from "../schema.ts";

/** ACPI tables that are handed to the guest, for software licences. */
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
  /** Whether the firmware talks to the serial console. */
  useSerial?: boolean;
}

export const BIOSSchema: Schema<BIOS> = object<BIOS>({
  useSerial: boolean,
});

/** UEFI firmware. */
export interface EFI {
  /** Keeps the firmware's variables between starts. */
  persistent?: boolean;
  /** Starts only what is signed; on if absent. Needs `features.smm`. */
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

/** The image that holds the kernel and the initial RAM disk. */
export interface KernelBootContainer {
  image: string;
  imagePullPolicy?: PullPolicy;
  imagePullSecret?: string;
  /** Of the initial RAM disk in the image. */
  initrdPath?: string;
  /** Of the kernel in the image. */
  kernelPath?: string;
}

export const KernelBootContainerSchema: Schema<KernelBootContainer> = object<KernelBootContainer>({
  image: required(string),
  imagePullPolicy: PullPolicySchema,
  imagePullSecret: string,
  initrdPath: string,
  kernelPath: string,
});

/** Starts a kernel directly, without a boot loader. */
export interface KernelBoot {
  container?: KernelBootContainer;
  /** The kernel's command line. */
  kernelArgs?: string;
}

export const KernelBootSchema: Schema<KernelBoot> = object<KernelBoot>({
  container: KernelBootContainerSchema,
  kernelArgs: string,
});

/** What runs before the operating system, and what it tells the guest of itself. */
export interface Firmware {
  acpi?: ACPI;
  bootloader?: Bootloader;
  kernelBoot?: KernelBoot;
  /** As SMBIOS reports it. */
  serial?: string;
  /** As SMBIOS reports it; made up once where absent, so that it stays the same. */
  uuid?: string;
}

export const FirmwareSchema: Schema<Firmware> = object<Firmware>({
  acpi: ACPISchema,
  bootloader: BootloaderSchema,
  kernelBoot: KernelBootSchema,
  serial: string,
  uuid: string,
});
