import { type LabelSelector, LabelSelectorSchema } from "../core/label-selector.ts";
import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import {
  type VirtualMachineInstanceTemplateSpec,
  VirtualMachineInstanceTemplateSpecSchema,
} from "../instance/virtual-machine-instance.ts";
import {
  array,
  boolean,
  int32,
  nullable,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import { type Time, TimeSchema } from "../time.ts";

/** How many VMIs, and from which template. */
export interface VirtualMachineInstanceReplicaSetSpec {
  /** Nothing is created or deleted while this is set. */
  paused?: boolean;
  /** 1 if absent. */
  replicas?: number;
  selector: LabelSelector;
  template: VirtualMachineInstanceTemplateSpec;
}

export const VirtualMachineInstanceReplicaSetSpecSchema: Schema<VirtualMachineInstanceReplicaSetSpec> =
  object<VirtualMachineInstanceReplicaSetSpec>({
    paused: boolean,
    replicas: int32,
    selector: required(LabelSelectorSchema),
    template: required(VirtualMachineInstanceTemplateSpecSchema),
  });

/** The type of a replica set's condition. */
export type VirtualMachineInstanceReplicaSetConditionType = OpenEnum<
  typeof VirtualMachineInstanceReplicaSetConditionTypeValues
>;
export const VirtualMachineInstanceReplicaSetConditionTypeValues = [
  "ReplicaFailure",
  "ReplicaPaused",
] as const;
export const VirtualMachineInstanceReplicaSetConditionTypeSchema: Schema<VirtualMachineInstanceReplicaSetConditionType> =
  openEnum(VirtualMachineInstanceReplicaSetConditionTypeValues);

/** One observation about the set. */
export interface VirtualMachineInstanceReplicaSetCondition {
  /** When the condition was last checked; not every controller keeps it up to date. */
  lastProbeTime?: Time | null;
  /** When `status` last changed. */
  lastTransitionTime?: Time | null;
  message?: string;
  /** One word for programs. */
  reason?: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  type: VirtualMachineInstanceReplicaSetConditionType;
}

export const VirtualMachineInstanceReplicaSetConditionSchema: Schema<VirtualMachineInstanceReplicaSetCondition> =
  object<VirtualMachineInstanceReplicaSetCondition>({
    lastProbeTime: nullable(TimeSchema),
    lastTransitionTime: nullable(TimeSchema),
    message: string,
    reason: string,
    status: required(string),
    type: required(VirtualMachineInstanceReplicaSetConditionTypeSchema),
  });

/** The present number. */
export interface VirtualMachineInstanceReplicaSetStatus {
  conditions?: VirtualMachineInstanceReplicaSetCondition[];
  /** The selector as text, for the scale subresource. */
  labelSelector?: string;
  readyReplicas?: number;
  replicas?: number;
}

export const VirtualMachineInstanceReplicaSetStatusSchema: Schema<VirtualMachineInstanceReplicaSetStatus> =
  object<VirtualMachineInstanceReplicaSetStatus>(
    {
      conditions: array(VirtualMachineInstanceReplicaSetConditionSchema),
      labelSelector: string,
      readyReplicas: int32,
      replicas: int32,
    },
    { nullable: true },
  );

/** Keeps a number of equal VMIs running. */
export interface VirtualMachineInstanceReplicaSet {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachineInstanceReplicaSetSpec;
  status?: VirtualMachineInstanceReplicaSetStatus;
}

export const VirtualMachineInstanceReplicaSetSchema: Schema<VirtualMachineInstanceReplicaSet> =
  object<VirtualMachineInstanceReplicaSet>({
    apiVersion: string,
    kind: string,
    metadata: ObjectMetaSchema,
    spec: required(VirtualMachineInstanceReplicaSetSpecSchema),
    status: VirtualMachineInstanceReplicaSetStatusSchema,
  });
