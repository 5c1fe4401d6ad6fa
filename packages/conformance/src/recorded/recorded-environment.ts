import { clusterConfig } from "@virtkit/api/config";
import type { KubeVirtConfiguration } from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";

/** The environment of a recorded conversion, with the relevant parts of the KubeVirt object. */
export interface RecordedEnvironment extends Omit<Environment, "config"> {
  readonly kubevirtConfiguration?: KubeVirtConfiguration;
  readonly kubevirtAnnotations?: Record<string, string>;
  readonly defaultArchitecture?: string;
  /** Whether the VMI is used as it is, without defaults. */
  readonly skipDefaulting?: boolean;
}

/** The converter's input: one configuration of the cluster instead of its parts. */
export function environmentOf(recorded: RecordedEnvironment): Environment {
  const { kubevirtConfiguration: configuration = {}, kubevirtAnnotations = {}, ...rest } = recorded;
  const { defaultArchitecture = "amd64", skipDefaulting: _skipDefaulting, ...others } = rest;
  const config = clusterConfig({
    metadata: { annotations: kubevirtAnnotations },
    spec: { configuration },
    status: { defaultArchitecture },
  });
  return { ...others, config };
}
