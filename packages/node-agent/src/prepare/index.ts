export {
  bindOpenFile,
  ifThere,
  type MountPlace,
  type OpenFileOptions,
} from "./bind-file.ts";
export type { PodLinks, ServedInterface, WiringOptions } from "./guest-network.ts";
export { memlockSize } from "./locked-memory.ts";
export { type PreparationOptions, planPreparation } from "./plan-preparation.ts";
export { PodJournal, type PreparedPod, type StepRecord } from "./pod-journal.ts";
export type { FoundImage, PreparationFacts } from "./preparation-facts.ts";
export { type PreparationStep, stepText } from "./preparation-step.ts";
export { type Preparation, type PrepareOptions, prepare } from "./prepare.ts";
export { sandboxFacts } from "./sandbox-facts.ts";
export { type Progress, type TeardownOptions, teardown } from "./teardown.ts";
