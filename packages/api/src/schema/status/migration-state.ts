import {
  type VMIMConfigurationOptions,
  VMIMConfigurationOptionsSchema,
} from "../migration/migration-options.ts";
import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  array,
  boolean,
  int,
  map,
  type OpenEnum,
  object,
  openEnum,
  type Schema,
  string,
  withRules,
} from "../schema.ts";
import { type Time, TimeSchema } from "../time.ts";

/** What the source side of a migration tells the target. */
export interface VirtualMachineInstanceMigrationSourceState {
  domainName?: string;
  domainNamespace?: string;
  migrationUID?: string;
  node?: string;
  nodeSelectors?: Record<string, string>;
  persistentStatePVCName?: string;
  pod?: string;
  selinuxContext?: string;
  /** Where the two clusters' controllers meet. */
  syncAddress?: string;
  virtualMachineInstanceUID?: string;
}

export const VirtualMachineInstanceMigrationSourceStateSchema: Schema<VirtualMachineInstanceMigrationSourceState> =
  object<VirtualMachineInstanceMigrationSourceState>({
    domainName: string,
    domainNamespace: string,
    migrationUID: string,
    node: string,
    nodeSelectors: map(string),
    persistentStatePVCName: string,
    pod: string,
    selinuxContext: string,
    syncAddress: string,
    virtualMachineInstanceUID: string,
  });

/** What the target side of a migration tells the source. */
export interface VirtualMachineInstanceMigrationTargetState {
  attachmentPodUID?: string;
  /** Processors of the node that the guest is pinned to. */
  cpuSet?: number[];
  directMigrationNodePorts?: Record<string, number>;
  domainDetected?: boolean;
  domainName?: string;
  domainNamespace?: string;
  domainReadyTimestamp?: Time;
  migrationUID?: string;
  node?: string;
  nodeAddress?: string;
  /** With dedicated processors: the node's NUMA topology, as JSON. */
  nodeTopology?: string;
  persistentStatePVCName?: string;
  pod?: string;
  selinuxContext?: string;
  /** Where the two clusters' controllers meet. */
  syncAddress?: string;
  virtualMachineInstanceUID?: string;
}

export const VirtualMachineInstanceMigrationTargetStateSchema: Schema<VirtualMachineInstanceMigrationTargetState> =
  object<VirtualMachineInstanceMigrationTargetState>({
    attachmentPodUID: string,
    cpuSet: array(int, { listType: "atomic" }),
    directMigrationNodePorts: map(int),
    domainDetected: boolean,
    domainName: string,
    domainNamespace: string,
    domainReadyTimestamp: TimeSchema,
    migrationUID: string,
    node: string,
    nodeAddress: string,
    nodeTopology: string,
    persistentStatePVCName: string,
    pod: string,
    selinuxContext: string,
    syncAddress: string,
    virtualMachineInstanceUID: string,
  });

/** How far the cancellation of a migration has come. */
export type MigrationAbortStatus = OpenEnum<typeof MigrationAbortStatusValues>;
export const MigrationAbortStatusValues = ["Succeeded", "Failed", "Aborting"] as const;
export const MigrationAbortStatusSchema: Schema<MigrationAbortStatus> = openEnum(
  MigrationAbortStatusValues,
);

/** Whether a migration used the Pod's network or one of its own. */
export type MigrationNetworkType = OpenEnum<typeof MigrationNetworkTypeValues>;
export const MigrationNetworkTypeValues = ["Pod", "Migration"] as const;
export const MigrationNetworkTypeSchema: Schema<MigrationNetworkType> = openEnum(
  MigrationNetworkTypeValues,
);

/** How memory is carried over at the moment. */
export type MigrationMode = OpenEnum<typeof MigrationModeValues>;
export const MigrationModeValues = ["PreCopy", "PostCopy", "Paused"] as const;
export const MigrationModeSchema: Schema<MigrationMode> = openEnum(MigrationModeValues);

/** The live migration that runs, or the last one. */
export interface VirtualMachineInstanceMigrationState {
  /** Someone asked for the migration to stop. */
  abortRequested?: boolean;
  abortStatus?: MigrationAbortStatus;
  /** It is over, well or not. */
  completed?: boolean;
  endTimestamp?: Time;
  /** It is over and did not succeed. */
  failed?: boolean;
  failureReason?: string;
  migrationConfiguration?: VMIMConfigurationOptions;
  migrationNetworkType?: MigrationNetworkType;
  migrationPolicyName?: string;
  /** Of the migration object. */
  migrationUid?: string;
  mode?: MigrationMode;
  sourceNode?: string;
  sourcePersistentStatePVCName?: string;
  sourcePod?: string;
  sourceState?: VirtualMachineInstanceMigrationSourceState;
  startTimestamp?: Time;
  /** The Pod that attaches plugged-in volumes on the target. */
  targetAttachmentPodUID?: string;
  /** Processors of the target node that the guest is pinned to. */
  targetCPUSet?: number[];
  /** Ports on the target node, and the ports of the guest's side that they lead to. */
  targetDirectMigrationNodePorts?: Record<string, number>;
  targetMemoryOverhead?: QuantityInput;
  targetNode?: string;
  targetNodeAddress?: string;
  /** The target node has seen the domain start. */
  targetNodeDomainDetected?: boolean;
  /** When the guest was seen running on the target. */
  targetNodeDomainReadyTimestamp?: Time;
  /** With dedicated processors: the target node's NUMA topology, as JSON. */
  targetNodeTopology?: string;
  targetPersistentStatePVCName?: string;
  targetPod?: string;
  targetState?: VirtualMachineInstanceMigrationTargetState;
}

export const VirtualMachineInstanceMigrationStateSchema: Schema<VirtualMachineInstanceMigrationState> =
  object<VirtualMachineInstanceMigrationState>({
    abortRequested: boolean,
    abortStatus: MigrationAbortStatusSchema,
    completed: boolean,
    endTimestamp: withRules(TimeSchema, { nullable: true }),
    failed: boolean,
    failureReason: string,
    migrationConfiguration: VMIMConfigurationOptionsSchema,
    migrationNetworkType: MigrationNetworkTypeSchema,
    migrationPolicyName: string,
    migrationUid: string,
    mode: MigrationModeSchema,
    sourceNode: string,
    sourcePersistentStatePVCName: string,
    sourcePod: string,
    sourceState: VirtualMachineInstanceMigrationSourceStateSchema,
    startTimestamp: withRules(TimeSchema, { nullable: true }),
    targetAttachmentPodUID: string,
    targetCPUSet: array(int, { listType: "atomic" }),
    targetDirectMigrationNodePorts: map(int),
    targetMemoryOverhead: QuantityInputSchema,
    targetNode: string,
    targetNodeAddress: string,
    targetNodeDomainDetected: boolean,
    targetNodeDomainReadyTimestamp: TimeSchema,
    targetNodeTopology: string,
    targetPersistentStatePVCName: string,
    targetPod: string,
    targetState: VirtualMachineInstanceMigrationTargetStateSchema,
  });
