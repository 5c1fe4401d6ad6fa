export {
  type BrokenPostCopy,
  brokenPostCopyEvent,
  findBrokenPostCopy,
} from "./broken-post-copy.ts";
export type { TrackingView } from "./changed-block-tracking.ts";
export {
  type ConditionType,
  notMigratableReasons,
  vmConditionTypes,
  vmiConditionTypes,
} from "./condition-types.ts";
export {
  type Condition,
  conditionsOf,
  findCondition,
  hasCondition,
  observeCondition,
  removeCondition,
  sameConditions,
  setCondition,
} from "./conditions.ts";
export { planDataVolumes } from "./data-volume-plan.ts";
export {
  type FailureReporter,
  failedMigrationEvent,
  findFailureReporter,
} from "./failed-migration.ts";
export { legacyFirmwareUuid } from "./legacy-firmware-uuid.ts";
export {
  type MigrationTransfer,
  migrationTransferAnnotation,
  readMigrationTransfer,
  writeMigrationTransfer,
} from "./migration-transfer.ts";
export {
  isFinal,
  isRunning,
  mayMove,
  phaseTransitions,
  type VmiPhase,
  vmiPhases,
  withPhase,
} from "./phases.ts";
export type { CloneSource, PlanFailure, PlannedEvent, VmPlan, Write } from "./plan.ts";
export {
  type PrintableStatus,
  printableStatus,
  printableStatuses,
  type VmView,
} from "./printable-status.ts";
export {
  isRestartRequired,
  type RestartView,
  restartRequiredConditions,
  restartRequiredFields,
} from "./restart-required.ts";
export { type RunStrategy, runStrategies, runStrategyOf } from "./run-strategy.ts";
export { planRunStrategy, type RunStrategyView } from "./run-strategy-plan.ts";
export {
  maxStartDelaySeconds,
  startDelayRange,
  startDelaySeconds,
  startFailureOf,
} from "./start-backoff.ts";
export { planVmStatus, type VmStatusView } from "./vm-status.ts";
export type { DataVolume, VolumeClaim } from "./vm-storage.ts";
export { vmiFromVm } from "./vmi-from-vm.ts";
