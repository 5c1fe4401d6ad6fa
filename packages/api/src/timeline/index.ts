export type { EventSubject, TimelineEvent } from "./event-evidence.ts";
export {
  firstOpenHandoff,
  type Handoff,
  handoffs,
  type TimelineInput,
  type TimelinePod,
  type TraceEntry,
} from "./handoffs.ts";
export { sentence } from "./sentences.ts";
export {
  isStage,
  type Stage,
  type StageFacts,
  type StageOwner,
  stageFacts,
  stages,
} from "./stage.ts";
export { type VmStory, type VmStoryInput, whyVm } from "./why-vm.ts";
