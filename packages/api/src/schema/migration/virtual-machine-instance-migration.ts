import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import {
  array,
  map,
  nullable,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import {
  type VirtualMachineInstanceMigrationState,
  VirtualMachineInstanceMigrationStateSchema,
} from "../status/migration-state.ts";
import { type Time, TimeSchema } from "../time.ts";

/** Marks the receiving end of a migration from another cluster. */
export interface VirtualMachineInstanceMigrationTarget {
  /** The same on both sides. */
  migrationID: string;
}

export const VirtualMachineInstanceMigrationTargetSchema: Schema<VirtualMachineInstanceMigrationTarget> =
  object<VirtualMachineInstanceMigrationTarget>({
    migrationID: required(string),
  });

/** The destination of a migration to another cluster. */
export interface VirtualMachineInstanceMigrationSource {
  /** Address of the other cluster's synchronisation controller. */
  connectURL: string;
  /** The same on both sides. */
  migrationID: string;
}

export const VirtualMachineInstanceMigrationSourceSchema: Schema<VirtualMachineInstanceMigrationSource> =
  object<VirtualMachineInstanceMigrationSource>({
    connectURL: required(string),
    migrationID: required(string),
  });

/** The priority of a migration. */
export type MigrationPriority = OpenEnum<typeof MigrationPriorityValues>;
export const MigrationPriorityValues = [
  "system-critical",
  "user-triggered",
  "system-maintenance",
] as const;
export const MigrationPrioritySchema: Schema<MigrationPriority> = openEnum(MigrationPriorityValues);

/** What to move, and where. */
export interface VirtualMachineInstanceMigrationSpec {
  /** Additional labels that the target node must have; the VMI's own take precedence. */
  addedNodeSelector?: Record<string, string>;
  priority?: MigrationPriority;
  /** Receives a VMI from another cluster. */
  receive?: VirtualMachineInstanceMigrationTarget;
  /** Sends the VMI to another cluster. */
  sendTo?: VirtualMachineInstanceMigrationSource;
  /** The VMI to move, in the same namespace. */
  vmiName?: string;
}

export const VirtualMachineInstanceMigrationSpecSchema: Schema<VirtualMachineInstanceMigrationSpec> =
  object<VirtualMachineInstanceMigrationSpec>({
    addedNodeSelector: map(string),
    priority: MigrationPrioritySchema,
    receive: VirtualMachineInstanceMigrationTargetSchema,
    sendTo: VirtualMachineInstanceMigrationSourceSchema,
    vmiName: string,
  });

/** The type of a migration's condition. */
export type VirtualMachineInstanceMigrationConditionType = OpenEnum<
  typeof VirtualMachineInstanceMigrationConditionTypeValues
>;
export const VirtualMachineInstanceMigrationConditionTypeValues = [
  "migrationAbortRequested",
  "migrationRejectedByResourceQuota",
  "migrationBlockedByUtilityVolumes",
  "decentralizedMigrationBlocked",
  "migrationBlockedByBackup",
] as const;
export const VirtualMachineInstanceMigrationConditionTypeSchema: Schema<VirtualMachineInstanceMigrationConditionType> =
  openEnum(VirtualMachineInstanceMigrationConditionTypeValues);

/** One observation about the migration. */
export interface VirtualMachineInstanceMigrationCondition {
  /** When the condition was last checked; not every controller keeps it up to date. */
  lastProbeTime?: Time | null;
  /** When `status` last changed. */
  lastTransitionTime?: Time | null;
  message?: string;
  /** One word for programs. */
  reason?: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  type: VirtualMachineInstanceMigrationConditionType;
}

export const VirtualMachineInstanceMigrationConditionSchema: Schema<VirtualMachineInstanceMigrationCondition> =
  object<VirtualMachineInstanceMigrationCondition>({
    lastProbeTime: nullable(TimeSchema),
    lastTransitionTime: nullable(TimeSchema),
    message: string,
    reason: string,
    status: required(string),
    type: required(VirtualMachineInstanceMigrationConditionTypeSchema),
  });

/** The phase of a migration. */
export type VirtualMachineInstanceMigrationPhase = OpenEnum<
  typeof VirtualMachineInstanceMigrationPhaseValues
>;
export const VirtualMachineInstanceMigrationPhaseValues = [
  "Pending",
  "Scheduling",
  "Scheduled",
  "PreparingTarget",
  "TargetReady",
  "Running",
  "Succeeded",
  "Failed",
  "WaitingForSync",
  "Synchronizing",
] as const;
export const VirtualMachineInstanceMigrationPhaseSchema: Schema<VirtualMachineInstanceMigrationPhase> =
  openEnum(VirtualMachineInstanceMigrationPhaseValues);

/** When a phase was entered. */
export interface VirtualMachineInstanceMigrationPhaseTransitionTimestamp {
  phase?: VirtualMachineInstanceMigrationPhase;
  phaseTransitionTimestamp?: Time;
}

export const VirtualMachineInstanceMigrationPhaseTransitionTimestampSchema: Schema<VirtualMachineInstanceMigrationPhaseTransitionTimestamp> =
  object<VirtualMachineInstanceMigrationPhaseTransitionTimestamp>({
    phase: VirtualMachineInstanceMigrationPhaseSchema,
    phaseTransitionTimestamp: TimeSchema,
  });

/** The progress of the migration. */
export interface VirtualMachineInstanceMigrationStatus {
  conditions?: VirtualMachineInstanceMigrationCondition[];
  migrationState?: VirtualMachineInstanceMigrationState;
  phase?: VirtualMachineInstanceMigrationPhase;
  phaseTransitionTimestamps?: VirtualMachineInstanceMigrationPhaseTransitionTimestamp[];
  synchronizationAddresses?: string[];
}

export const VirtualMachineInstanceMigrationStatusSchema: Schema<VirtualMachineInstanceMigrationStatus> =
  object<VirtualMachineInstanceMigrationStatus>({
    conditions: array(VirtualMachineInstanceMigrationConditionSchema),
    migrationState: VirtualMachineInstanceMigrationStateSchema,
    phase: VirtualMachineInstanceMigrationPhaseSchema,
    phaseTransitionTimestamps: array(
      VirtualMachineInstanceMigrationPhaseTransitionTimestampSchema,
      { listType: "atomic" },
    ),
    synchronizationAddresses: array(string, { listType: "atomic" }),
  });

/** A request to move a VMI to another node, and its progress. */
export interface VirtualMachineInstanceMigration {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachineInstanceMigrationSpec;
  status?: VirtualMachineInstanceMigrationStatus;
}

export const VirtualMachineInstanceMigrationSchema: Schema<VirtualMachineInstanceMigration> =
  object<VirtualMachineInstanceMigration>({
    apiVersion: string,
    kind: string,
    metadata: ObjectMetaSchema,
    spec: required(VirtualMachineInstanceMigrationSpecSchema),
    status: VirtualMachineInstanceMigrationStatusSchema,
  });
