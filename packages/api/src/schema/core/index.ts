export {
  type Affinity,
  AffinitySchema,
  type NodeAffinity,
  NodeAffinitySchema,
  type NodeSelector,
  type NodeSelectorOperator,
  NodeSelectorOperatorSchema,
  NodeSelectorOperatorValues,
  type NodeSelectorRequirement,
  NodeSelectorRequirementSchema,
  NodeSelectorSchema,
  type NodeSelectorTerm,
  NodeSelectorTermSchema,
  type PodAffinity,
  PodAffinitySchema,
  type PodAffinityTerm,
  PodAffinityTermSchema,
  type PodAntiAffinity,
  PodAntiAffinitySchema,
  type PreferredSchedulingTerm,
  PreferredSchedulingTermSchema,
  type WeightedPodAffinityTerm,
  WeightedPodAffinityTermSchema,
} from "./affinity.ts";
export {
  type DownwardAPIVolumeFile,
  DownwardAPIVolumeFileSchema,
  type ObjectFieldSelector,
  ObjectFieldSelectorSchema,
  type ResourceFieldSelector,
  ResourceFieldSelectorSchema,
} from "./downward-api.ts";
export {
  type LabelSelector,
  type LabelSelectorRequirement,
  LabelSelectorRequirementSchema,
  LabelSelectorSchema,
} from "./label-selector.ts";
export {
  type LocalObjectReference,
  LocalObjectReferenceSchema,
} from "./local-object-reference.ts";
export {
  type FieldsV1,
  FieldsV1Schema,
  type ManagedFieldsEntry,
  ManagedFieldsEntrySchema,
  type ObjectMeta,
  ObjectMetaSchema,
  type OwnerReference,
  OwnerReferenceSchema,
} from "./object-meta.ts";
export {
  type CorePersistentVolumeClaimVolumeSource,
  CorePersistentVolumeClaimVolumeSourceSchema,
  type PersistentVolumeClaimSpec,
  PersistentVolumeClaimSpecSchema,
  type PersistentVolumeMode,
  PersistentVolumeModeSchema,
  PersistentVolumeModeValues,
  type VolumeResourceRequirements,
  VolumeResourceRequirementsSchema,
} from "./persistent-volume-claim.ts";
export {
  type PodDNSConfig,
  type PodDNSConfigOption,
  PodDNSConfigOptionSchema,
  PodDNSConfigSchema,
} from "./pod-dns.ts";
export {
  type ExecAction,
  ExecActionSchema,
  type HTTPGetAction,
  HTTPGetActionSchema,
  type HTTPHeader,
  HTTPHeaderSchema,
  type TCPSocketAction,
  TCPSocketActionSchema,
  type URIScheme,
  URISchemeSchema,
  URISchemeValues,
} from "./probe-action.ts";
export { type PullPolicy, PullPolicySchema, PullPolicyValues } from "./pull-policy.ts";
export {
  type TaintEffect,
  TaintEffectSchema,
  TaintEffectValues,
  type Toleration,
  type TolerationOperator,
  TolerationOperatorSchema,
  TolerationOperatorValues,
  TolerationSchema,
} from "./toleration.ts";
export {
  type NodeInclusionPolicy,
  NodeInclusionPolicySchema,
  NodeInclusionPolicyValues,
  type TopologySpreadConstraint,
  TopologySpreadConstraintSchema,
  type UnsatisfiableConstraintAction,
  UnsatisfiableConstraintActionSchema,
  UnsatisfiableConstraintActionValues,
} from "./topology-spread.ts";
export {
  type TypedLocalObjectReference,
  TypedLocalObjectReferenceSchema,
  type TypedObjectReference,
  TypedObjectReferenceSchema,
} from "./typed-object-reference.ts";
