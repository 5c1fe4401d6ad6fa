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
  /** Of the node agent on some nodes, by node name. */
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
  /** Virtual processors to one of the node's, where a VMI states no request; 10 if absent. */
  cpuAllocationRatio?: number;
  /** Features that are switched off although they are on by default. */
  disabledFeatureGates?: string[];
  diskVerification?: DiskVerification;
  /** Features that are switched on; some are always on. */
  featureGates?: string[];
  logVerbosity?: LogVerbosity;
  /** Guest memory in per cent of the Pod's request; 100 if absent. */
  memoryOvercommit?: number;
  /** The least time stamp counter frequency, in hertz; of the cluster's nodes if absent. */
  minimumClusterTSCFrequency?: number;
  /** Space that host disks leave free; 131072 if absent. */
  minimumReservePVCBytes?: number;
  /** Added to every launcher Pod. */
  nodeSelectors?: Record<string, string>;
  /** By how much a file system may be smaller than the claim; 10 if absent. */
  pvcTolerateLessSpaceUpToPercent?: number;
  /** Runs guests without KVM where there is none. */
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
