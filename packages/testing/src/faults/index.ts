export {
  type ActorContext,
  type ActorMain,
  type Finding,
  type PerturbationReport,
  perturbationReportText,
  perturbScenario,
  type Scenario,
} from "./perturb-scenario.ts";
export { type Perturbation, perturbationText } from "./perturbation.ts";
