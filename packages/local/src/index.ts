export type { MigrationReport } from "@virtkit/launcher/client";
export { askWhyBroken, whyBroken } from "./broken-move.ts";
export type { MoveEnd } from "./conclude-move.ts";
export type { MovedVmi } from "./end-move.ts";
export { type ForecastMoveOptions, forecastMove, type MoveForecast } from "./forecast-move.ts";
export type { PodTraces, TraceOwner } from "./group-traces.ts";
export {
  type FindFirmwareOptions,
  findFirmware,
  type HostFirmware,
} from "./host-firmware.ts";
export { type HostCheck, type HostReportOptions, hostReport } from "./host-report.ts";
export { fileName, findImage, type ImageStore } from "./image-store.ts";
export type { VmiEnd, VmiState } from "./judge-vmi.ts";
export {
  findLeftovers,
  type Leftovers,
  leftoverName,
  type RemoveLeftoverOptions,
  removeLeftover,
} from "./leftovers.ts";
export { type Accel, type AccelChoice, accelChoices, chooseAccel } from "./local-accel.ts";
export type { LocalArchitecture } from "./local-architecture.ts";
export type { ClaimFact, DirectoryFact, FileFact, LocalFacts } from "./local-facts.ts";
export type { LocalTrace, UnseenPlace } from "./local-inventory.ts";
export type { LocalLimits } from "./local-limits.ts";
export { type LocalNames, localNames, podsDirectory } from "./local-names.ts";
export type { LocalNetwork } from "./local-network.ts";
export { localRefusals } from "./local-refusals.ts";
export {
  createLocalSandbox,
  isAlive,
  type LocalSandbox,
  type LocalSandboxOptions,
  localLauncher,
  removeLocalSandbox,
  stopLocalSandbox,
} from "./local-sandbox.ts";
export {
  findLostVmi,
  isLostVmiRunning,
  type LostVmi,
  removeLostVmi,
  stopLostVmi,
} from "./lost-vmi.ts";
export type { MoveFigures } from "./move-figures.ts";
export type { VmiMove } from "./move-file.ts";
export { type MoveHandle, type MoveVmiOptions, moveVmi } from "./move-vmi.ts";
export type { MoveObstacle } from "./moving-vmi.ts";
export type { NetworkMode } from "./network-table.ts";
export { openVmiSandbox } from "./open-vmi-sandbox.ts";
export type { LocalHostDisk } from "./plan-host-disks.ts";
export type { VmiPlan, VmiRequest } from "./plan-vmi.ts";
export type { PodOwner } from "./pod-owner.ts";
export type { DataObject, PodMount, VolumeSources } from "./pod-volumes.ts";
export { type KvmProof, type ProveKvmOptions, proveKvm } from "./prove-kvm.ts";
export type { PublishedPort } from "./published-port.ts";
export type { UnreadableRecord } from "./record-file.ts";
export { refusalText } from "./refusal.ts";
export { runTool, type ToolOptions, type ToolResult, tryTool } from "./run-tool.ts";
export type { DeviceNode } from "./sandbox-script.ts";
export { isMoveOrphaned, type SettleMoveOptions, settleMove } from "./settle-move.ts";
export {
  type StartedVmi,
  type StartVmiOptions,
  startVmi,
} from "./start-vmi.ts";
export { unrecordedPods } from "./unrecorded-pods.ts";
export { openVmiConsole } from "./vmi-console.ts";
export {
  agentDirectory,
  connectVmi,
  isAbandoned,
  readinessOf,
  removeVmi,
  type StopOptions,
  stopVmi,
  vmiEnd,
  vmiState,
} from "./vmi-life.ts";
export {
  addRecord,
  isOwnStart,
  type LastMove,
  listRecords,
  type RecordList,
  readRecord,
  removeRecord,
  type VmiRecord,
} from "./vmi-record.ts";
