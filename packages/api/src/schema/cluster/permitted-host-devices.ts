import { array, boolean, object, required, type Schema, string } from "../schema.ts";

/** Mediated devices, by type. */
export interface MediatedHostDevice {
  externalResourceProvider?: boolean;
  mdevNameSelector: string;
  resourceName: string;
}

export const MediatedHostDeviceSchema: Schema<MediatedHostDevice> = object<MediatedHostDevice>({
  externalResourceProvider: boolean,
  mdevNameSelector: required(string),
  resourceName: required(string),
});

/** PCI devices, by vendor and product. */
export interface PciHostDevice {
  externalResourceProvider?: boolean;
  pciVendorSelector: string;
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

/** USB devices that are handed over together. */
export interface USBHostDevice {
  externalResourceProvider?: boolean;
  resourceName: string;
  selectors?: USBSelector[];
}

export const USBHostDeviceSchema: Schema<USBHostDevice> = object<USBHostDevice>({
  externalResourceProvider: boolean,
  resourceName: required(string),
  selectors: array(USBSelectorSchema, { listType: "atomic" }),
});

/** Devices of nodes that machines may use. */
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
