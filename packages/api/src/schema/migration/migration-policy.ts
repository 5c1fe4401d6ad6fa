import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  boolean,
  type Empty,
  int64,
  map,
  object,
  required,
  type Schema,
  string,
  uint64,
  withRules,
} from "../schema.ts";
import {
  type ExperimentalMigrationOptions,
  ExperimentalMigrationOptionsSchema,
} from "./migration-options.ts";

/** Labels of VMIs and of their namespaces; all must match. */
export interface Selectors {
  namespaceSelector?: Record<string, string>;
  virtualMachineInstanceSelector?: Record<string, string>;
}

export const SelectorsSchema: Schema<Selectors> = object<Selectors>({
  namespaceSelector: map(string),
  virtualMachineInstanceSelector: map(string),
});

/** The options, and which VMIs they apply to. */
export interface MigrationPolicySpec {
  allowAutoConverge?: boolean;
  allowPostCopy?: boolean;
  allowWorkloadDisruption?: boolean;
  /** Bytes per second; 0 means no limit. */
  bandwidthPerMigration?: QuantityInput;
  /** Seconds per GiB until the guest is paused, post-copy begins or the migration is aborted. */
  completionTimeoutPerGiB?: number;
  experimental?: ExperimentalMigrationOptions;
  maxDowntimeMs?: number;
  selectors: Selectors;
}

export const MigrationPolicySpecSchema: Schema<MigrationPolicySpec> = object<MigrationPolicySpec>({
  allowAutoConverge: boolean,
  allowPostCopy: boolean,
  allowWorkloadDisruption: boolean,
  bandwidthPerMigration: QuantityInputSchema,
  completionTimeoutPerGiB: int64,
  experimental: ExperimentalMigrationOptionsSchema,
  maxDowntimeMs: withRules(uint64, { minimum: 1, maximum: 2_000_000 }),
  selectors: required(SelectorsSchema),
});

/** Nothing yet. */
export type MigrationPolicyStatus = Empty;

export const MigrationPolicyStatusSchema: Schema<MigrationPolicyStatus> =
  object<MigrationPolicyStatus>({}, { nullable: true });

/** Migration options for some VMIs only, chosen by labels. */
export interface MigrationPolicy {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: MigrationPolicySpec;
  status?: MigrationPolicyStatus;
}

export const MigrationPolicySchema: Schema<MigrationPolicy> = object<MigrationPolicy>({
  apiVersion: string,
  kind: string,
  metadata: ObjectMetaSchema,
  spec: required(MigrationPolicySpecSchema),
  status: MigrationPolicyStatusSchema,
});
