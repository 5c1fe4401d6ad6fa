export { type HostCheck, type HostReportOptions, hostReport } from "./host-report.ts";
export { fileName, findImage, type ImageStore } from "./image-store.ts";
export { type Accel, type AccelChoice, accelChoices, chooseAccel } from "./local-accel.ts";
export type { LocalLimits } from "./local-cgroup.ts";
export { type LocalNames, localNames, podsDirectory } from "./local-names.ts";
export {
  isPortFree,
  type LocalNetwork,
  type PublishedPort,
} from "./local-network.ts";
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
  agentDirectory,
  connectMachine,
  isAbandoned,
  type MachineState,
  machineState,
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
  readRecord,
  removeRecord,
} from "./machine-record.ts";
export { openMachine } from "./open-machine.ts";
export type { LocalHostDisk } from "./plan-host-disks.ts";
export type { MachinePlan, MachineRequest } from "./plan-machine.ts";
export type { DataObject, PodMount, VolumeSources } from "./pod-volumes.ts";
export { type KvmProof, type ProveKvmOptions, proveKvm } from "./prove-kvm.ts";
export { runTool, type ToolOptions, type ToolResult, tryTool } from "./run-tool.ts";
export type { DeviceNode } from "./sandbox-script.ts";
export {
  type StartedMachine,
  type StartMachineOptions,
  startMachine,
} from "./start-machine.ts";
