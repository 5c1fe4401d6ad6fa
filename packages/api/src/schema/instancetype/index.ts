export {
  type DevicePreferences,
  DevicePreferencesSchema,
} from "./device-preferences.ts";
export {
  type CPUPreferenceRequirement,
  CPUPreferenceRequirementSchema,
  type MemoryPreferenceRequirement,
  MemoryPreferenceRequirementSchema,
  type PreferenceRequirements,
  PreferenceRequirementsSchema,
} from "./preference-requirements.ts";
export {
  type ClockPreferences,
  ClockPreferencesSchema,
  type CPUPreferences,
  CPUPreferencesSchema,
  type FeaturePreferences,
  FeaturePreferencesSchema,
  type FirmwarePreferences,
  FirmwarePreferencesSchema,
  type MachinePreferences,
  MachinePreferencesSchema,
  type PreferredCPUTopology,
  PreferredCPUTopologySchema,
  PreferredCPUTopologyValues,
  type SpreadAcross,
  SpreadAcrossSchema,
  SpreadAcrossValues,
  type SpreadOptions,
  SpreadOptionsSchema,
  type VolumePreferences,
  VolumePreferencesSchema,
} from "./preferences.ts";
export {
  type CPUInstancetype,
  CPUInstancetypeSchema,
  type MemoryInstancetype,
  MemoryInstancetypeSchema,
  type VirtualMachineClusterInstancetype,
  VirtualMachineClusterInstancetypeSchema,
  type VirtualMachineInstancetype,
  VirtualMachineInstancetypeSchema,
  type VirtualMachineInstancetypeSpec,
  VirtualMachineInstancetypeSpecSchema,
} from "./virtual-machine-instancetype.ts";
export {
  type VirtualMachineClusterPreference,
  VirtualMachineClusterPreferenceSchema,
  type VirtualMachinePreference,
  VirtualMachinePreferenceSchema,
  type VirtualMachinePreferenceSpec,
  VirtualMachinePreferenceSpecSchema,
} from "./virtual-machine-preference.ts";
