export { type ApplyInput, type ApplyResult, applyInstancetype } from "./apply-instancetype.ts";
export { autoattachPreferences } from "./autoattach-preferences.ts";
export type { InstancetypeConflict } from "./conflict.ts";
export { type ExpandedVm, expandVm } from "./expand-vm.ts";
export { type GuestTopology, guestTopology } from "./guest-topology.ts";
export {
  type Inferred,
  inferMatcher,
  type Labelled,
  type MatcherKind,
  type VolumeLookup,
} from "./infer-matcher.ts";
export { matcherAnnotations } from "./matcher-annotations.ts";
export { type MatcherFault, matcherFaults } from "./matcher-faults.ts";
export { type MatcherScope, matcherScope } from "./matcher-scope.ts";
export { type UnmetRequirement, unmetRequirement } from "./requirements.ts";
export { type SpreadProblem, spreadProblem } from "./spread-check.ts";
export {
  type MatcherLookup,
  type SettledVm,
  type StoredPreference,
  settleMatchers,
} from "./vm-matchers.ts";
