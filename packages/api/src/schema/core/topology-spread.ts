import {
  array,
  int32,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import { type LabelSelector, LabelSelectorSchema } from "./label-selector.ts";

/** Whether nodes that the Pod cannot use count. */
export type NodeInclusionPolicy = OpenEnum<typeof NodeInclusionPolicyValues>;
export const NodeInclusionPolicyValues = ["Honor", "Ignore"] as const;
export const NodeInclusionPolicySchema: Schema<NodeInclusionPolicy> =
  openEnum(NodeInclusionPolicyValues);

/** What happens if the spread cannot be satisfied. */
export type UnsatisfiableConstraintAction = OpenEnum<typeof UnsatisfiableConstraintActionValues>;
export const UnsatisfiableConstraintActionValues = ["DoNotSchedule", "ScheduleAnyway"] as const;
export const UnsatisfiableConstraintActionSchema: Schema<UnsatisfiableConstraintAction> = openEnum(
  UnsatisfiableConstraintActionValues,
);

/** How evenly Pods are spread over zones, nodes or other domains. */
export interface TopologySpreadConstraint {
  labelSelector?: LabelSelector;
  matchLabelKeys?: string[];
  /** How many more Pods the fullest domain may have than the emptiest. */
  maxSkew: number;
  /** How many domains there must be before the emptiest counts as empty. */
  minDomains?: number;
  nodeAffinityPolicy?: NodeInclusionPolicy;
  nodeTaintsPolicy?: NodeInclusionPolicy;
  /** The node label whose equal values form a domain. */
  topologyKey: string;
  whenUnsatisfiable: UnsatisfiableConstraintAction;
}

export const TopologySpreadConstraintSchema: Schema<TopologySpreadConstraint> =
  object<TopologySpreadConstraint>({
    labelSelector: LabelSelectorSchema,
    matchLabelKeys: array(string, { listType: "atomic" }),
    maxSkew: required(int32),
    minDomains: int32,
    nodeAffinityPolicy: NodeInclusionPolicySchema,
    nodeTaintsPolicy: NodeInclusionPolicySchema,
    topologyKey: required(string),
    whenUnsatisfiable: required(UnsatisfiableConstraintActionSchema),
  });
