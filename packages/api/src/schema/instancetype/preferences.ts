import { type ClockOffset, ClockOffsetSchema, type Timer, TimerSchema } from "../domain/clock.ts";
import { type CPUFeature, CPUFeatureSchema } from "../domain/cpu.ts";
import { type FeatureState, FeatureStateSchema } from "../domain/feature-state.ts";
import {
  type FeatureAPIC,
  FeatureAPICSchema,
  type FeatureKVM,
  FeatureKVMSchema,
} from "../domain/features.ts";
import { type EFI, EFISchema } from "../domain/firmware.ts";
import { type FeatureHyperv, FeatureHypervSchema } from "../domain/hyperv.ts";
import {
  array,
  boolean,
  type OpenEnum,
  object,
  openEnum,
  type Schema,
  string,
  uint32,
} from "../schema.ts";

/** Preferred clock. */
export interface ClockPreferences {
  preferredClockOffset?: ClockOffset;
  preferredTimer?: Timer;
}

export const ClockPreferencesSchema: Schema<ClockPreferences> = object<ClockPreferences>({
  preferredClockOffset: ClockOffsetSchema,
  preferredTimer: TimerSchema,
});

/** What CPUs are spread across. */
export type SpreadAcross = OpenEnum<typeof SpreadAcrossValues>;
export const SpreadAcrossValues = ["SocketsCoresThreads", "SocketsCores", "CoresThreads"] as const;
export const SpreadAcrossSchema: Schema<SpreadAcross> = openEnum(SpreadAcrossValues);

/** How CPUs are spread over sockets, cores and threads. */
export interface SpreadOptions {
  across?: SpreadAcross;
  /** Cores per socket; between cores and threads only 2 is used. 2 if absent. */
  ratio?: number;
}

export const SpreadOptionsSchema: Schema<SpreadOptions> = object<SpreadOptions>({
  across: SpreadAcrossSchema,
  ratio: uint32,
});

/** The topology in which the guest sees its CPUs; the short names replace the long ones. */
export type PreferredCPUTopology = OpenEnum<typeof PreferredCPUTopologyValues>;
export const PreferredCPUTopologyValues = [
  "preferCores",
  "preferSockets",
  "preferThreads",
  "preferSpread",
  "preferAny",
  "cores",
  "sockets",
  "threads",
  "spread",
  "any",
] as const;
export const PreferredCPUTopologySchema: Schema<PreferredCPUTopology> = openEnum(
  PreferredCPUTopologyValues,
);

/** Preferred CPU settings. */
export interface CPUPreferences {
  preferredCPUFeatures?: CPUFeature[];
  preferredCPUTopology?: PreferredCPUTopology;
  spreadOptions?: SpreadOptions;
}

export const CPUPreferencesSchema: Schema<CPUPreferences> = object<CPUPreferences>({
  preferredCPUFeatures: array(CPUFeatureSchema),
  preferredCPUTopology: PreferredCPUTopologySchema,
  spreadOptions: SpreadOptionsSchema,
});

/** Preferred hypervisor features. */
export interface FeaturePreferences {
  preferredAcpi?: FeatureState;
  preferredApic?: FeatureAPIC;
  preferredHyperv?: FeatureHyperv;
  preferredKvm?: FeatureKVM;
  preferredPvspinlock?: FeatureState;
  preferredSmm?: FeatureState;
}

export const FeaturePreferencesSchema: Schema<FeaturePreferences> = object<FeaturePreferences>({
  preferredAcpi: FeatureStateSchema,
  preferredApic: FeatureAPICSchema,
  preferredHyperv: FeatureHypervSchema,
  preferredKvm: FeatureKVMSchema,
  preferredPvspinlock: FeatureStateSchema,
  preferredSmm: FeatureStateSchema,
});

/** Preferred firmware. */
export interface FirmwarePreferences {
  preferredEfi?: EFI;
  preferredUseBios?: boolean;
  preferredUseBiosSerial?: boolean;
  /** Deprecated: use `preferredEfi`. */
  preferredUseEfi?: boolean;
  /** Deprecated: use `preferredEfi`. */
  preferredUseSecureBoot?: boolean;
}

export const FirmwarePreferencesSchema: Schema<FirmwarePreferences> = object<FirmwarePreferences>({
  preferredEfi: EFISchema,
  preferredUseBios: boolean,
  preferredUseBiosSerial: boolean,
  preferredUseEfi: boolean,
  preferredUseSecureBoot: boolean,
});

/** Preferred machine type. */
export interface MachinePreferences {
  preferredMachineType?: string;
}

export const MachinePreferencesSchema: Schema<MachinePreferences> = object<MachinePreferences>({
  preferredMachineType: string,
});

/** Preferred storage. */
export interface VolumePreferences {
  preferredStorageClassName?: string;
}

export const VolumePreferencesSchema: Schema<VolumePreferences> = object<VolumePreferences>({
  preferredStorageClassName: string,
});
