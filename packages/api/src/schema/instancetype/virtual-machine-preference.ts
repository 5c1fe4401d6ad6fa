import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import { type LaunchSecurity, LaunchSecuritySchema } from "../domain/launch-security.ts";
import { int64, map, object, required, type Schema, string, uint32 } from "../schema.ts";
import { type DevicePreferences, DevicePreferencesSchema } from "./device-preferences.ts";
import {
  type PreferenceRequirements,
  PreferenceRequirementsSchema,
} from "./preference-requirements.ts";
import {
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
  type VolumePreferences,
  VolumePreferencesSchema,
} from "./preferences.ts";

/** The defaults, and what a VM must have to use them. */
export interface VirtualMachinePreferenceSpec {
  annotations?: Record<string, string>;
  clock?: ClockPreferences;
  cpu?: CPUPreferences;
  devices?: DevicePreferences;
  features?: FeaturePreferences;
  firmware?: FirmwarePreferences;
  machine?: MachinePreferences;
  /** Cores per socket when CPUs are spread; 2 if absent. */
  preferSpreadSocketToCoreRatio?: number;
  preferredArchitecture?: string;
  preferredLaunchSecurity?: LaunchSecurity;
  preferredSubdomain?: string;
  preferredTerminationGracePeriodSeconds?: number;
  requirements?: PreferenceRequirements;
  volumes?: VolumePreferences;
}

export const VirtualMachinePreferenceSpecSchema: Schema<VirtualMachinePreferenceSpec> =
  object<VirtualMachinePreferenceSpec>({
    annotations: map(string),
    clock: ClockPreferencesSchema,
    cpu: CPUPreferencesSchema,
    devices: DevicePreferencesSchema,
    features: FeaturePreferencesSchema,
    firmware: FirmwarePreferencesSchema,
    machine: MachinePreferencesSchema,
    preferSpreadSocketToCoreRatio: uint32,
    preferredArchitecture: string,
    preferredLaunchSecurity: LaunchSecuritySchema,
    preferredSubdomain: string,
    preferredTerminationGracePeriodSeconds: int64,
    requirements: PreferenceRequirementsSchema,
    volumes: VolumePreferencesSchema,
  });

/** Defaults for what VMs do not set, in one namespace. */
export interface VirtualMachinePreference {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachinePreferenceSpec;
}

export const VirtualMachinePreferenceSchema: Schema<VirtualMachinePreference> =
  object<VirtualMachinePreference>({
    apiVersion: string,
    kind: string,
    metadata: ObjectMetaSchema,
    spec: required(VirtualMachinePreferenceSpecSchema),
  });

/** Defaults for what VMs do not set, in the whole cluster. */
export interface VirtualMachineClusterPreference {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachinePreferenceSpec;
}

export const VirtualMachineClusterPreferenceSchema: Schema<VirtualMachineClusterPreference> =
  object<VirtualMachineClusterPreference>({
    apiVersion: string,
    kind: string,
    metadata: ObjectMetaSchema,
    spec: required(VirtualMachinePreferenceSpecSchema),
  });
