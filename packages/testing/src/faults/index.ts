export {
  type Finding,
  type PerturbationReport,
  type PerturbOptions,
  perturbationReportText,
  perturbScenario,
} from "./perturb-scenario.ts";
export { type Perturbation, perturbationText } from "./perturbation.ts";
export type { ActorContext, ActorMain, NodeActorMain, Scenario } from "./play-scenario.ts";
export { type RotatingSeedsOptions, rotatingSeeds } from "./rotating-seeds.ts";
export {
  type ShakeOptions,
  type ShakeReport,
  shakeReportText,
  shakeScenario,
} from "./shake-scenario.ts";
