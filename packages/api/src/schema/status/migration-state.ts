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

/** What the source of a migration tells the target. */
export interface VirtualMachineInstanceMigrationSourceState {
  domainName?: string;
  domainNamespace?: string;
  migrationUID?: string;
  node?: string;
  nodeSelectors?: Record<string, string>;
  persistentStatePVCName?: string;
  pod?: string;
  selinuxContext?: string;
  /** The address where the two clusters' controllers synchronise. */
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

/** What the target of a migration tells the source. */
export interface VirtualMachineInstanceMigrationTargetState {
  attachmentPodUID?: string;
  /** CPUs of the node that the guest is pinned to. */
  cpuSet?: number[];
  directMigrationNodePorts?: Record<string, number>;
  domainDetected?: boolean;
  domainName?: string;
  domainNamespace?: string;
  domainReadyTimestamp?: Time;
  migrationUID?: string;
  node?: string;
  nodeAddress?: string;
  /** With dedicated CPUs: the node's NUMA topology, as JSON. */
  nodeTopology?: string;
  persistentStatePVCName?: string;
  pod?: string;
  selinuxContext?: string;
  /** The address where the two clusters' controllers synchronise. */
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

/** The progress of cancelling a migration. */
export type MigrationAbortStatus = OpenEnum<typeof MigrationAbortStatusValues>;
export const MigrationAbortStatusValues = ["Succeeded", "Failed", "Aborting"] as const;
export const MigrationAbortStatusSchema: Schema<MigrationAbortStatus> = openEnum(
  MigrationAbortStatusValues,
);

/** Whether a migration used the Pod network or a dedicated one. */
export type MigrationNetworkType = OpenEnum<typeof MigrationNetworkTypeValues>;
export const MigrationNetworkTypeValues = ["Pod", "Migration"] as const;
export const MigrationNetworkTypeSchema: Schema<MigrationNetworkType> = openEnum(
  MigrationNetworkTypeValues,
);

/** How memory is being transferred. */
export type MigrationMode = OpenEnum<typeof MigrationModeValues>;
export const MigrationModeValues = ["PreCopy", "PostCopy", "Paused"] as const;
export const MigrationModeSchema: Schema<MigrationMode> = openEnum(MigrationModeValues);

/** The running or last live migration. */
export interface VirtualMachineInstanceMigrationState {
  /** Whether somebody asked to stop the migration. */
  abortRequested?: boolean;
  abortStatus?: MigrationAbortStatus;
  /** Whether it has ended, successfully or not. */
  completed?: boolean;
  endTimestamp?: Time;
  /** Whether it has ended without success. */
  failed?: boolean;
  failureReason?: string;
  migrationConfiguration?: VMIMConfigurationOptions;
  migrationNetworkType?: MigrationNetworkType;
  migrationPolicyName?: string;
  /** UID of the migration object. */
  migrationUid?: string;
  mode?: MigrationMode;
  sourceNode?: string;
  sourcePersistentStatePVCName?: string;
  sourcePod?: string;
  sourceState?: VirtualMachineInstanceMigrationSourceState;
  startTimestamp?: Time;
  /** The Pod that attaches hotplugged volumes on the target. */
  targetAttachmentPodUID?: string;
  /** CPUs of the target node that the guest is pinned to. */
  targetCPUSet?: number[];
  /** Ports on the target node, and the ports on the guest's side that they lead to. */
  targetDirectMigrationNodePorts?: Record<string, number>;
  targetMemoryOverhead?: QuantityInput;
  targetNode?: string;
  targetNodeAddress?: string;
  /** Whether the target node has seen the domain start. */
  targetNodeDomainDetected?: boolean;
  /** When the guest was seen running on the target. */
  targetNodeDomainReadyTimestamp?: Time;
  /** With dedicated CPUs: the target node's NUMA topology, as JSON. */
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
