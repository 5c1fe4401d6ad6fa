export {
  type ProbeAction,
  type ProbeFault,
  type ProbePlan,
  type ProbePlans,
  planProbes,
} from "./plan-probes.ts";
export type { ProbeThresholds } from "./probe-state.ts";
