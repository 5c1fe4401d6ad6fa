export { type Admission, judge, type Refusal } from "./admission.ts";
export {
  type AdmissionLookup,
  type AppliedInstancetype,
  emptyCluster,
} from "./admission-lookup.ts";
export type { AdmissionKind, AdmissionRequest } from "./admission-request.ts";
export {
  type AdmissionReviewAnswer,
  answerReview,
  reviewAdmission,
  reviewMutation,
} from "./admission-review.ts";
export { type AdmitOptions, admit } from "./admit.ts";
export { type Cause, type CauseReason, isFieldOurs } from "./cause.ts";
export { restoredGrant, withCreationMarks } from "./creation-marks.ts";
export { admitInstancetypeObject, type InstancetypeResource } from "./instancetype-object.ts";
export { admitMigrationPolicy } from "./migration-policy.ts";
export { type MutateOptions, type Mutation, mutate } from "./mutate.ts";
export { discontinuedBindings } from "./network.ts";
export {
  type ComponentWrite,
  type NodeAgentRuleOptions,
  nodeAgentCauses,
} from "./node-agent-causes.ts";
export { graceHostDeviceAliases } from "./nvidia-grace.ts";
export { type MetadataProblem, metadataProblems } from "./object-metadata.ts";
export {
  admitPodEviction,
  type EvictedPod,
  type EvictionAdmission,
  type EvictionDecision,
  type EvictionLookup,
  type EvictionRequest,
  evictionDecision,
} from "./pod-eviction.ts";
export { admitPool } from "./pool.ts";
export { admitReplicaSet } from "./replica-set.ts";
export { semanticallyEqual } from "./semantic-equality.ts";
export { type ServiceAccounts, serviceAccounts } from "./service-accounts.ts";
export { type SpecRule, specCauses, specRules } from "./spec.ts";
export { instanceCauses } from "./virtual-machine-instance.ts";
