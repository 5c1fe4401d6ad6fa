import {
  attribute,
  child,
  children,
  type ElementType,
  element,
  leaf,
  numberAttribute,
  required,
  text,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** Machine type and how it boots. */
export interface DomainOs extends Extensible {
  firmware?: string | undefined;
  firmwareInfo?: DomainFirmwareInfo | undefined;
  type: DomainOsType;
  loader?: DomainLoader | undefined;
  nvram?: DomainNvram | undefined;
  kernel?: string | undefined;
  initrd?: string | undefined;
  cmdline?: string | undefined;
  acpi?: DomainOsAcpi | undefined;
  smbios?: DomainSmbios | undefined;
  bootmenu?: DomainBootMenu | undefined;
  bios?: DomainBios | undefined;
}

/** Features that the firmware chosen by libvirt must have. */
export interface DomainFirmwareInfo extends Extensible {
  features: DomainFirmwareFeature[];
}

/** One such feature. */
export interface DomainFirmwareFeature extends Extensible {
  enabled: string;
  name: string;
}

/** Architecture, machine type and kind of guest. */
export interface DomainOsType extends Extensible {
  arch?: string | undefined;
  machine?: string | undefined;
  os: string;
}

/** The firmware's code. */
export interface DomainLoader extends Extensible {
  readonly?: string | undefined;
  secure?: string | undefined;
  type?: string | undefined;
  path: string;
}

/** The firmware's variables. */
export interface DomainNvram extends Extensible {
  template?: string | undefined;
  format?: string | undefined;
  path: string;
}

/** ACPI tables from outside. */
export interface DomainOsAcpi extends Extensible {
  tables: DomainAcpiTable[];
}

/** A file that holds an ACPI table. */
export interface DomainAcpiTable extends Extensible {
  type?: string | undefined;
  path: string;
}

/** Where the guest's SMBIOS data comes from. */
export interface DomainSmbios extends Extensible {
  mode: string;
}

/** The boot menu; the timeout is in milliseconds. */
export interface DomainBootMenu extends Extensible {
  enable: string;
  timeout?: number | undefined;
}

/** Whether the BIOS talks on the serial port. */
export interface DomainBios extends Extensible {
  useserial?: string | undefined;
}

/** What the guest reads about its hardware. */
export interface DomainSysinfo extends Extensible {
  type: string;
  bios: DomainSysinfoEntries;
  system: DomainSysinfoEntries;
  baseBoard: DomainSysinfoEntries;
  chassis: DomainSysinfoEntries;
}

/** A table of it. */
export interface DomainSysinfoEntries extends Extensible {
  entries: DomainSysinfoEntry[];
}

/** A name and a value. */
export interface DomainSysinfoEntry extends Extensible {
  name: string;
  value: string;
}

const firmwareFeatureElement: ElementType<DomainFirmwareFeature> = element(() => ({
  enabled: required(attribute()),
  name: required(attribute()),
}));

const acpiTableElement: ElementType<DomainAcpiTable> = element(() => ({
  type: attribute(),
  path: required(text()),
}));

export const osElement: ElementType<DomainOs> = element(() => ({
  firmware: attribute(),
  firmwareInfo: child(
    element<DomainFirmwareInfo>(() => ({
      features: required(children("feature", firmwareFeatureElement)),
    })),
    "firmware",
  ),
  type: required(
    child(
      element<DomainOsType>(() => ({
        arch: attribute(),
        machine: attribute(),
        os: required(text()),
      })),
    ),
  ),
  loader: child(
    element<DomainLoader>(() => ({
      readonly: attribute(),
      secure: attribute(),
      type: attribute(),
      path: required(text()),
    })),
  ),
  nvram: child(
    element<DomainNvram>(() => ({
      template: attribute(),
      format: attribute(),
      path: required(text()),
    })),
  ),
  kernel: leaf(),
  initrd: leaf(),
  cmdline: leaf(),
  acpi: child(
    element<DomainOsAcpi>(() => ({ tables: required(children("table", acpiTableElement)) })),
  ),
  smbios: child(element<DomainSmbios>(() => ({ mode: required(attribute()) }))),
  bootmenu: child(
    element<DomainBootMenu>(() => ({ enable: required(attribute()), timeout: numberAttribute() })),
  ),
  bios: child(element<DomainBios>(() => ({ useserial: attribute() }))),
}));

const entryElement: ElementType<DomainSysinfoEntry> = element(() => ({
  name: required(attribute()),
  value: required(text()),
}));

const entriesElement: ElementType<DomainSysinfoEntries> = element(() => ({
  entries: required(children("entry", entryElement)),
}));

export const sysinfoElement: ElementType<DomainSysinfo> = element(() => ({
  type: required(attribute()),
  bios: required(child(entriesElement)),
  system: required(child(entriesElement)),
  baseBoard: required(child(entriesElement)),
  chassis: required(child(entriesElement)),
}));
