export { askLibvirt } from "./ask-libvirt.ts";
export { capabilityDirectory, readCapabilityFiles } from "./capability-files.ts";
export { type HeartbeatFacts, isCpuManagerStatic, planHeartbeat } from "./heartbeat.ts";
export { type KsmFacts, type KsmPlan, type KsmSettings, planKsm } from "./ksm.ts";
export {
  type CapabilityDocuments,
  type NodeCapabilities,
  readCapabilities,
} from "./node-capabilities.ts";
export { NodeFiles } from "./node-files.ts";
export {
  type LabelChanges,
  type NodeLabelFacts,
  nodeLabelsFor,
  planLabels,
} from "./node-labels.ts";
export { type CapabilityQueries, queryCapabilities } from "./query-capabilities.ts";
export { type NodeDuties, type NodeDutiesOptions, startNodeDuties } from "./start-node-duties.ts";
