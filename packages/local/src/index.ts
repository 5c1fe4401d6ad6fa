export type { PodTraces, TraceOwner } from "./group-traces.ts";
export {
  type FindFirmwareOptions,
  findFirmware,
  type HostFirmware,
} from "./host-firmware.ts";
export { type HostCheck, type HostReportOptions, hostReport } from "./host-report.ts";
export { fileName, findImage, type ImageStore } from "./image-store.ts";
export type { MachineEnd, MachineState } from "./judge-machine.ts";
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
  findLostMachine,
  isLostMachineRunning,
  type LostMachine,
  removeLostMachine,
  stopLostMachine,
} from "./lost-machine.ts";
export {
  agentDirectory,
  connectMachine,
  isAbandoned,
  machineEnd,
  machineState,
  readinessOf,
  removeMachine,
  type StopOptions,
  stopMachine,
} from "./machine.ts";
export { openMachineConsole } from "./machine-console.ts";
export {
  addRecord,
  isOwnStart,
  listRecords,
  type MachineRecord,
  type RecordList,
  readRecord,
  removeRecord,
} from "./machine-record.ts";
export type { NetworkMode } from "./network-table.ts";
export { openMachine } from "./open-machine.ts";
export type { LocalHostDisk } from "./plan-host-disks.ts";
export type { MachinePlan, MachineRequest } from "./plan-machine.ts";
export type { PodOwner } from "./pod-owner.ts";
export type { DataObject, PodMount, VolumeSources } from "./pod-volumes.ts";
export { type KvmProof, type ProveKvmOptions, proveKvm } from "./prove-kvm.ts";
export type { PublishedPort } from "./published-port.ts";
export type { UnreadableRecord } from "./record-file.ts";
export { refusalText } from "./refusal.ts";
export { runTool, type ToolOptions, type ToolResult, tryTool } from "./run-tool.ts";
export type { DeviceNode } from "./sandbox-script.ts";
export {
  type StartedMachine,
  type StartMachineOptions,
  startMachine,
} from "./start-machine.ts";
export { unrecordedPods } from "./unrecorded-pods.ts";
