export type { ContainerScript, ContainerScripts } from "./container-script.ts";
export {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "./create-test-cluster.ts";
export { NodeHost, type NodeOptions } from "./node-host.ts";
