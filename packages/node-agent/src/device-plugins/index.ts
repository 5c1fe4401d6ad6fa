export { type DevicePlugin, type DevicePluginOptions, startDevicePlugin } from "./device-plugin.ts";
export {
  type DevicePlugins,
  type DevicePluginsOptions,
  planPlugins,
  startDevicePlugins,
  type WantedPlugin,
} from "./device-plugins.ts";
export type { Allocation, DeviceSource, PluginDevice } from "./device-source.ts";
export {
  findHostDevices,
  type HostDevices,
  type MediatedDevice,
  type PciDevice,
  type UsbDevice,
} from "./host-devices.ts";
export {
  type PermittedDevice,
  type PermittedResource,
  permittedDevices,
  planPermittedDevices,
} from "./permitted-devices.ts";
export { type SharedNode, slotDevices } from "./slot-devices.ts";
