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

/** How a value is compared. */
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

/** Conditions that must all hold for one node. */
export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  /** Conditions on fields of the node; only `metadata.name` is known. */
  matchFields?: NodeSelectorRequirement[];
}

export const NodeSelectorTermSchema: Schema<NodeSelectorTerm> = object<NodeSelectorTerm>(
  {
    matchExpressions: array(NodeSelectorRequirementSchema, { listType: "atomic" }),
    matchFields: array(NodeSelectorRequirementSchema, { listType: "atomic" }),
  },
  { atomic: true },
);

/** A wish about nodes, with its weight. */
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

/** Nodes that satisfy at least one of the terms. */
export interface NodeSelector {
  /** One of them must match. */
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
  /** Wishes; the node with the greatest sum of weights wins. */
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[];
  /** Must hold when the Pod is placed; not looked at afterwards. */
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
}

export const NodeAffinitySchema: Schema<NodeAffinity> = object<NodeAffinity>({
  preferredDuringSchedulingIgnoredDuringExecution: array(PreferredSchedulingTermSchema, {
    listType: "atomic",
  }),
  requiredDuringSchedulingIgnoredDuringExecution: NodeSelectorSchema,
});

/** Which Pods count as neighbours, and over what area. */
export interface PodAffinityTerm {
  labelSelector?: LabelSelector;
  /** Labels of the incoming Pod whose values are added to the selector as equal. */
  matchLabelKeys?: string[];
  /** Labels of the incoming Pod whose values are added to the selector as different. */
  mismatchLabelKeys?: string[];
  namespaceSelector?: LabelSelector;
  /** Namespaces in which Pods are looked for; none and no selector means the Pod's own. */
  namespaces?: string[];
  /** The node label whose equal values make an area: host, zone, region. */
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

/** A wish about neighbouring Pods, with its weight. */
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
  /** Wishes; the node with the greatest sum of weights wins. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
  /** Must hold when the Pod is placed; not looked at afterwards. */
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

/** Aversion to nodes that run certain Pods. */
export interface PodAntiAffinity {
  /** Wishes; the node with the greatest sum of weights wins. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
  /** Must hold when the Pod is placed; not looked at afterwards. */
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

/** Where a Pod would like to run, or must. */
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
