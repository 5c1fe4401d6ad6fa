export { decide, mayDestroy, mayForget, mayResume, maySwitch, settle } from "./decide.ts";
export type { Verdict } from "./decide-grant.ts";
export type { Answer, Decision, DecisionRecord, Outcome, SettleRequest } from "./decision.ts";
export { describeGrant } from "./describe-grant.ts";
export {
  type Claimed,
  type Ended,
  type Free,
  freeGrant,
  type Grant,
  type Granted,
  type Handover,
  type Holder,
  type Invalid,
  isSameHolder,
  type ReadGrant,
} from "./grant.ts";
export { decodeGrant, encodeGrant, grantAnnotation } from "./grant-annotation.ts";
export { type GuardName, guards } from "./guards.ts";
export type { DestroyRequest, ForgetRequest } from "./may-destroy.ts";
export type { ResumeRequest } from "./may-resume.ts";
export type { ProofOfEnd } from "./proof-of-end.ts";
export type { Refused } from "./refusal.ts";
export type { Claim, EarlierHolder, GrantRequest } from "./request.ts";
export {
  encodeMemory,
  mostRuns,
  type RememberedPod,
  type RememberedRun,
  type RunMemory,
  readMemory,
  runMemoryCondition,
} from "./run-memory.ts";
export {
  readTargetHolder,
  type TargetHolder,
  targetHolderAnnotation,
  writeTargetHolder,
} from "./target-holder.ts";
