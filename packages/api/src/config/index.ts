export { ClusterConfig, type LoggingComponent } from "./cluster-config.ts";
export { ConfigStore, type ConfigUpdate } from "./config-store.ts";
export type { ConfigurationProblem } from "./configuration-problems.ts";
export type { Architecture } from "./default-configuration.ts";
export type {
  EffectiveConfiguration,
  EffectiveMigrationConfiguration,
} from "./effective-configuration.ts";
export {
  type FeatureGate,
  type FeatureGateState,
  featureGates,
  isFeatureGate,
} from "./feature-gates.ts";
export {
  type ClusterConfigOptions,
  clusterConfig,
  readClusterConfig,
} from "./read-cluster-config.ts";
export { readFactor } from "./read-factor.ts";
