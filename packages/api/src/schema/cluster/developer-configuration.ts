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
  /** For the node agent on some nodes, by node name. */
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

/** Feature gates, overcommitment and other settings to use with care. */
export interface DeveloperConfiguration {
  clusterProfiler?: boolean;
  /** Virtual CPUs per CPU of the node, for VMIs without a request; 10 if absent. */
  cpuAllocationRatio?: number;
  /** Features to turn off that are on by default. */
  disabledFeatureGates?: string[];
  diskVerification?: DiskVerification;
  /** Features to turn on; some are always on. */
  featureGates?: string[];
  logVerbosity?: LogVerbosity;
  /** Guest memory in percent of the Pod's request; 100 if absent. */
  memoryOvercommit?: number;
  /** The lowest TSC frequency, in hertz; if absent, the lowest of the cluster's nodes. */
  minimumClusterTSCFrequency?: number;
  /** Space that host disks leave free; 131072 if absent. */
  minimumReservePVCBytes?: number;
  /** Added to every launcher Pod. */
  nodeSelectors?: Record<string, string>;
  /** By how many percent a file system may be smaller than the claim; 10 if absent. */
  pvcTolerateLessSpaceUpToPercent?: number;
  /** Runs guests without KVM on nodes that do not have it. */
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
