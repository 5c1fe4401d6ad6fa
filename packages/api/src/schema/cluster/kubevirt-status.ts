import {
  array,
  int,
  int64,
  nullable,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import { type Time, TimeSchema } from "../time.ts";

/** The type of an installation's condition. */
export type KubeVirtConditionType = OpenEnum<typeof KubeVirtConditionTypeValues>;
export const KubeVirtConditionTypeValues = [
  "Synchronized",
  "Created",
  "Available",
  "Progressing",
  "Degraded",
] as const;
export const KubeVirtConditionTypeSchema: Schema<KubeVirtConditionType> = openEnum(
  KubeVirtConditionTypeValues,
);

/** One observation about the installation. */
export interface KubeVirtCondition {
  /** When the condition was last checked; not every controller keeps it up to date. */
  lastProbeTime?: Time | null;
  /** When `status` last changed. */
  lastTransitionTime?: Time | null;
  message?: string;
  /** One word for programs. */
  reason?: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  type: KubeVirtConditionType;
}

export const KubeVirtConditionSchema: Schema<KubeVirtCondition> = object<KubeVirtCondition>({
  lastProbeTime: nullable(TimeSchema),
  lastTransitionTime: nullable(TimeSchema),
  message: string,
  reason: string,
  status: required(string),
  type: required(KubeVirtConditionTypeSchema),
});

/** A version of an object that the operator has applied. */
export interface GenerationStatus {
  group: string;
  hash?: string;
  lastGeneration: number;
  name: string;
  namespace?: string;
  resource: string;
}

export const GenerationStatusSchema: Schema<GenerationStatus> = object<GenerationStatus>({
  group: required(string),
  hash: string,
  lastGeneration: required(int64),
  name: required(string),
  namespace: string,
  resource: required(string),
});

/** The phase of an installation. */
export type KubeVirtPhase = OpenEnum<typeof KubeVirtPhaseValues>;
export const KubeVirtPhaseValues = ["Deploying", "Deployed", "Deleting", "Deleted"] as const;
export const KubeVirtPhaseSchema: Schema<KubeVirtPhase> = openEnum(KubeVirtPhaseValues);

/** What is installed now. */
export interface KubeVirtStatus {
  conditions?: KubeVirtCondition[];
  defaultArchitecture?: string;
  generations?: GenerationStatus[];
  observedDeploymentConfig?: string;
  observedDeploymentID?: string;
  observedGeneration?: number;
  observedKubeVirtRegistry?: string;
  observedKubeVirtVersion?: string;
  operatorVersion?: string;
  /** VMIs whose launcher has an older version. */
  outdatedVirtualMachineInstanceWorkloads?: number;
  phase?: KubeVirtPhase;
  synchronizationAddresses?: string[];
  targetDeploymentConfig?: string;
  targetDeploymentID?: string;
  targetKubeVirtRegistry?: string;
  targetKubeVirtVersion?: string;
}

export const KubeVirtStatusSchema: Schema<KubeVirtStatus> = object<KubeVirtStatus>({
  conditions: array(KubeVirtConditionSchema),
  defaultArchitecture: string,
  generations: array(GenerationStatusSchema, { listType: "atomic" }),
  observedDeploymentConfig: string,
  observedDeploymentID: string,
  observedGeneration: int64,
  observedKubeVirtRegistry: string,
  observedKubeVirtVersion: string,
  operatorVersion: string,
  outdatedVirtualMachineInstanceWorkloads: int,
  phase: KubeVirtPhaseSchema,
  synchronizationAddresses: array(string, { listType: "atomic" }),
  targetDeploymentConfig: string,
  targetDeploymentID: string,
  targetKubeVirtRegistry: string,
  targetKubeVirtVersion: string,
});
