import type { EffectiveConfiguration } from "./effective-configuration.ts";

/** A fault of a configuration. */
export interface ConfigurationProblem {
  /** The path, such as `spec.configuration.developerConfiguration.memoryOvercommit`. */
  readonly path: string;
  /** What was found and what to do; begins with the path. */
  readonly message: string;
}

const pullPolicies: readonly string[] = ["", "Always", "Never", "IfNotPresent"];
const defaultInterfaces: readonly string[] = ["", "bridge", "slirp", "masquerade"];

/** Everything that KubeVirt refuses in a configuration that includes the defaults. */
export function configurationProblems({
  developerConfiguration: developer,
  imagePullPolicy,
  network,
}: EffectiveConfiguration): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const report = (field: string, found: unknown, advice: string): void => {
    const path = `spec.configuration.${field}`;
    problems.push({ path, message: `${path} is ${JSON.stringify(found)}; ${advice}` });
  };
  if (!pullPolicies.includes(imagePullPolicy)) {
    report("imagePullPolicy", imagePullPolicy, "use Always, Never or IfNotPresent");
  }
  if (developer.memoryOvercommit <= 0) {
    const advice = "use a percentage greater than 0";
    report("developerConfiguration.memoryOvercommit", developer.memoryOvercommit, advice);
  }
  if (developer.cpuAllocationRatio <= 0) {
    const advice = "use a ratio greater than 0";
    report("developerConfiguration.cpuAllocationRatio", developer.cpuAllocationRatio, advice);
  }
  const tolerated = developer.pvcTolerateLessSpaceUpToPercent;
  if (tolerated < 0 || tolerated > 100) {
    const advice = "use a percentage from 0 to 100";
    report("developerConfiguration.pvcTolerateLessSpaceUpToPercent", tolerated, advice);
  }
  if (!defaultInterfaces.includes(network.defaultNetworkInterface)) {
    const advice = "use bridge, masquerade or slirp";
    report("network.defaultNetworkInterface", network.defaultNetworkInterface, advice);
  }
  return problems;
}
