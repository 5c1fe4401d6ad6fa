export type { GuestsOptions } from "../guests/cluster-guests.ts";
export type { SimulatedLauncher } from "../guests/simulated-launcher.ts";
export type { SimulatedNodeAgent } from "../guests/simulated-node-agent.ts";
export type {
  ContainerProcess,
  ContainerScript,
  ContainerScripts,
  ScriptedPod,
} from "./container-script.ts";
export {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "./create-test-cluster.ts";
export { apiServerPart, Network } from "./network.ts";
export { NodeHost, type NodeOptions } from "./node-host.ts";
export { WallClocks } from "./wall-clocks.ts";
