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

/** How to compare a value. */
export type NodeSelectorOperator = OpenEnum<typeof NodeSelectorOperatorValues>;
export const NodeSelectorOperatorValues = [
  "DoesNotExist",
  "Exists",
  "Gt",
  "In",
  "Lt",
  "NotIn",
] as const;
export const NodeSelectorOperatorSchema: Schema<NodeSelectorOperator> = openEnum(
  NodeSelectorOperatorValues,
);

/** One condition on a node's label or field. */
export interface NodeSelectorRequirement {
  key: string;
  operator: NodeSelectorOperator;
  values?: string[];
}

export const NodeSelectorRequirementSchema: Schema<NodeSelectorRequirement> =
  object<NodeSelectorRequirement>({
    key: required(string),
    operator: required(NodeSelectorOperatorSchema),
    values: array(string, { listType: "atomic" }),
  });

/** Conditions that a node must meet together. */
export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  /** Conditions on fields of the node; only `metadata.name` is supported. */
  matchFields?: NodeSelectorRequirement[];
}

export const NodeSelectorTermSchema: Schema<NodeSelectorTerm> = object<NodeSelectorTerm>(
  {
    matchExpressions: array(NodeSelectorRequirementSchema, { listType: "atomic" }),
    matchFields: array(NodeSelectorRequirementSchema, { listType: "atomic" }),
  },
  { atomic: true },
);

/** A preference for nodes, with its weight. */
export interface PreferredSchedulingTerm {
  preference: NodeSelectorTerm;
  /** From 1 to 100. */
  weight: number;
}

export const PreferredSchedulingTermSchema: Schema<PreferredSchedulingTerm> =
  object<PreferredSchedulingTerm>({
    preference: required(NodeSelectorTermSchema),
    weight: required(int32),
  });

/** Nodes that match at least one of the terms. */
export interface NodeSelector {
  /** At least one of them must match. */
  nodeSelectorTerms: NodeSelectorTerm[];
}

export const NodeSelectorSchema: Schema<NodeSelector> = object<NodeSelector>(
  {
    nodeSelectorTerms: required(array(NodeSelectorTermSchema, { listType: "atomic" })),
  },
  { atomic: true },
);

/** Attraction to nodes by their labels. */
export interface NodeAffinity {
  /** Preferences; the node with the greatest sum of weights wins. */
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[];
  /** Must hold when the Pod is scheduled; ignored afterwards. */
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
}

export const NodeAffinitySchema: Schema<NodeAffinity> = object<NodeAffinity>({
  preferredDuringSchedulingIgnoredDuringExecution: array(PreferredSchedulingTermSchema, {
    listType: "atomic",
  }),
  requiredDuringSchedulingIgnoredDuringExecution: NodeSelectorSchema,
});

/** Which Pods count as neighbours, and in which domain. */
export interface PodAffinityTerm {
  labelSelector?: LabelSelector;
  /** Labels of the incoming Pod whose values are added to the selector as equal. */
  matchLabelKeys?: string[];
  /** Labels of the incoming Pod whose values are added to the selector as different. */
  mismatchLabelKeys?: string[];
  namespaceSelector?: LabelSelector;
  /** Namespaces to search for Pods; by default the Pod's own. */
  namespaces?: string[];
  /** The node label whose equal values form a domain: host, zone, region. */
  topologyKey: string;
}

export const PodAffinityTermSchema: Schema<PodAffinityTerm> = object<PodAffinityTerm>({
  labelSelector: LabelSelectorSchema,
  matchLabelKeys: array(string, { listType: "atomic" }),
  mismatchLabelKeys: array(string, { listType: "atomic" }),
  namespaceSelector: LabelSelectorSchema,
  namespaces: array(string, { listType: "atomic" }),
  topologyKey: required(string),
});

/** A preference for neighbouring Pods, with its weight. */
export interface WeightedPodAffinityTerm {
  podAffinityTerm: PodAffinityTerm;
  /** From 1 to 100. */
  weight: number;
}

export const WeightedPodAffinityTermSchema: Schema<WeightedPodAffinityTerm> =
  object<WeightedPodAffinityTerm>({
    podAffinityTerm: required(PodAffinityTermSchema),
    weight: required(int32),
  });

/** Attraction to nodes that run certain Pods. */
export interface PodAffinity {
  /** Preferences; the node with the greatest sum of weights wins. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
  /** Must hold when the Pod is scheduled; ignored afterwards. */
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
}

export const PodAffinitySchema: Schema<PodAffinity> = object<PodAffinity>({
  preferredDuringSchedulingIgnoredDuringExecution: array(WeightedPodAffinityTermSchema, {
    listType: "atomic",
  }),
  requiredDuringSchedulingIgnoredDuringExecution: array(PodAffinityTermSchema, {
    listType: "atomic",
  }),
});

/** Repulsion from nodes that run certain Pods. */
export interface PodAntiAffinity {
  /** Preferences; the node with the greatest sum of weights wins. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
  /** Must hold when the Pod is scheduled; ignored afterwards. */
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
}

export const PodAntiAffinitySchema: Schema<PodAntiAffinity> = object<PodAntiAffinity>({
  preferredDuringSchedulingIgnoredDuringExecution: array(WeightedPodAffinityTermSchema, {
    listType: "atomic",
  }),
  requiredDuringSchedulingIgnoredDuringExecution: array(PodAffinityTermSchema, {
    listType: "atomic",
  }),
});

/** Where a Pod prefers to run, or must run. */
export interface Affinity {
  nodeAffinity?: NodeAffinity;
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAntiAffinity;
}

export const AffinitySchema: Schema<Affinity> = object<Affinity>({
  nodeAffinity: NodeAffinitySchema,
  podAffinity: PodAffinitySchema,
  podAntiAffinity: PodAntiAffinitySchema,
});
