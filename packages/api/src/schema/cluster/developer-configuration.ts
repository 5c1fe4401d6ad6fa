import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  array,
  boolean,
  int,
  int64,
  map,
  object,
  required,
  type Schema,
  string,
  uint,
  uint64,
  withRules,
} from "../schema.ts";

/** Limits for the inspection of disk images. */
export interface DiskVerification {
  memoryLimit: QuantityInput;
}

export const DiskVerificationSchema: Schema<DiskVerification> = object<DiskVerification>({
  memoryLimit: required(QuantityInputSchema),
});

/** How much each component logs. */
export interface LogVerbosity {
  nodeVerbosity?: Record<string, number>;
  virtAPI?: number;
  virtController?: number;
  virtHandler?: number;
  virtLauncher?: number;
  virtOperator?: number;
  virtSynchronizationController?: number;
}

export const LogVerbositySchema: Schema<LogVerbosity> = object<LogVerbosity>({
  nodeVerbosity: map(uint),
  virtAPI: uint,
  virtController: uint,
  virtHandler: uint,
  virtLauncher: uint,
  virtOperator: uint,
  virtSynchronizationController: uint,
});

/** Feature gates, overcommitment and other settings with care. */
export interface DeveloperConfiguration {
  clusterProfiler?: boolean;
  cpuAllocationRatio?: number;
  disabledFeatureGates?: string[];
  diskVerification?: DiskVerification;
  featureGates?: string[];
  logVerbosity?: LogVerbosity;
  memoryOvercommit?: number;
  minimumClusterTSCFrequency?: number;
  minimumReservePVCBytes?: number;
  nodeSelectors?: Record<string, string>;
  pvcTolerateLessSpaceUpToPercent?: number;
  useEmulation?: boolean;
}

export const DeveloperConfigurationSchema: Schema<DeveloperConfiguration> =
  object<DeveloperConfiguration>({
    clusterProfiler: boolean,
    cpuAllocationRatio: int,
    disabledFeatureGates: array(string, { listType: "atomic" }),
    diskVerification: DiskVerificationSchema,
    featureGates: array(string, { listType: "atomic" }),
    logVerbosity: LogVerbositySchema,
    memoryOvercommit: withRules(int, { minimum: 10 }),
    minimumClusterTSCFrequency: int64,
    minimumReservePVCBytes: uint64,
    nodeSelectors: map(string),
    pvcTolerateLessSpaceUpToPercent: int,
    useEmulation: boolean,
  });
