export {
  assembleDeviceProgram,
  type BpfInstruction,
  encodeInstructions,
} from "./assemble-device-program.ts";
export { type CgroupsToChange, cgroupsToChange } from "./cgroups-to-change.ts";
export {
  type AttachedFilter,
  type DeviceFilterOptions,
  deviceFilterName,
  listDeviceFilters,
  removeDeviceFilter,
  setDeviceFilter,
} from "./device-filter.ts";
export {
  anyNumber,
  checkDeviceRule,
  type DeviceRule,
  type DeviceRuleVersion,
  defaultDeviceRules,
  deviceRulesForV1,
  initialDeviceRulesForV2,
  mergeDeviceRules,
} from "./device-rule.ts";
export {
  type DeviceDirectory,
  type DeviceEntry,
  type LauncherDevices,
  launcherDeviceRules,
} from "./launcher-device-rules.ts";
export { safeDeviceDirectory } from "./safe-device-directory.ts";
export {
  type DeviceFileWrite,
  formatDeviceRule,
  parseDevicesList,
  planDeviceFiles,
  setV1DeviceRules,
} from "./v1-device-files.ts";
export { type VmiVolumes, volumesFromStart } from "./vmi-volumes.ts";
