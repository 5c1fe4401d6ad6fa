import { array, boolean, object, required, type Schema, string } from "../schema.ts";

/** Mediated devices, by type. */
export interface MediatedHostDevice {
  /** Whether another device plugin offers it. */
  externalResourceProvider?: boolean;
  /** Name of the mediated type. */
  mdevNameSelector: string;
  /** The name under which VMIs request it. */
  resourceName: string;
}

export const MediatedHostDeviceSchema: Schema<MediatedHostDevice> = object<MediatedHostDevice>({
  externalResourceProvider: boolean,
  mdevNameSelector: required(string),
  resourceName: required(string),
});

/** PCI devices, by vendor and product. */
export interface PciHostDevice {
  /** Whether another device plugin offers it. */
  externalResourceProvider?: boolean;
  /** `vendor:product`, in hexadecimal. */
  pciVendorSelector: string;
  /** The name under which VMIs request it. */
  resourceName: string;
}

export const PciHostDeviceSchema: Schema<PciHostDevice> = object<PciHostDevice>({
  externalResourceProvider: boolean,
  pciVendorSelector: required(string),
  resourceName: required(string),
});

/** A USB device, by vendor and product. */
export interface USBSelector {
  product: string;
  vendor: string;
}

export const USBSelectorSchema: Schema<USBSelector> = object<USBSelector>({
  product: required(string),
  vendor: required(string),
});

/** USB devices that are assigned together. */
export interface USBHostDevice {
  /** Whether another device plugin offers them. */
  externalResourceProvider?: boolean;
  /** The name under which VMIs request them. */
  resourceName: string;
  selectors?: USBSelector[];
}

export const USBHostDeviceSchema: Schema<USBHostDevice> = object<USBHostDevice>({
  externalResourceProvider: boolean,
  resourceName: required(string),
  selectors: array(USBSelectorSchema, { listType: "atomic" }),
});

/** Devices of nodes that VMIs may use. */
export interface PermittedHostDevices {
  mediatedDevices?: MediatedHostDevice[];
  pciHostDevices?: PciHostDevice[];
  usb?: USBHostDevice[];
}

export const PermittedHostDevicesSchema: Schema<PermittedHostDevices> =
  object<PermittedHostDevices>({
    mediatedDevices: array(MediatedHostDeviceSchema, { listType: "atomic" }),
    pciHostDevices: array(PciHostDeviceSchema, { listType: "atomic" }),
    usb: array(USBHostDeviceSchema, { listType: "atomic" }),
  });
