import { admit } from "../admission/admit.ts";
import { type Cause, isFieldOurs } from "../admission/cause.ts";
import { type ClusterConfig, clusterConfig } from "../config/index.ts";
import type { KubeVirtConfiguration } from "../schema/index.ts";

/** A part of an object to merge over another: lists replace lists, `undefined` removes a field. */
export type Change = { readonly [field: string]: unknown };

/** What a test cluster has switched on and off. */
export interface ClusterOptions {
  readonly gates?: readonly string[];
  readonly disabled?: readonly string[];
  readonly configuration?: KubeVirtConfiguration;
  readonly architecture?: string;
}

/** The configuration of such a cluster. */
export function cluster(options: ClusterOptions = {}): ClusterConfig {
  const { gates = [], disabled = [], configuration = {}, architecture = "amd64" } = options;
  const developerConfiguration = {
    ...configuration.developerConfiguration,
    featureGates: [...gates],
    disabledFeatureGates: [...disabled],
  };
  return clusterConfig(
    { ...configuration, developerConfiguration },
    { defaultArchitecture: architecture },
  );
}

/** A VirtualMachineInstance that admission accepts, with a change of its spec. */
export function instance(spec: Change = {}, rest: Change = {}): Record<string, unknown> {
  const base = {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "vm", namespace: "here" },
    spec: {
      architecture: "amd64",
      domain: {
        machine: { type: "q35" },
        memory: { guest: "1Gi" },
        devices: {
          disks: [{ name: "root", disk: { bus: "virtio" } }],
          interfaces: [{ name: "default", masquerade: {} }],
        },
      },
      networks: [{ name: "default", pod: {} }],
      volumes: [{ name: "root", containerDisk: { image: "registry/image:v1" } }],
    },
  };
  return overlay(base, { ...rest, spec });
}

/**
 * Admission's verdict on a new VirtualMachineInstance with that change of its spec: reasons without
 * `FieldValue`, and fields; an empty list means allowed.
 */
export function verdict(spec: Change, options: ClusterOptions = {}): string[] {
  return judged(instance(spec), options);
}

/** The same with a change of its domain. */
export function domainVerdict(domain: Change, options: ClusterOptions = {}): string[] {
  return verdict({ domain }, options);
}

/** The same with a change of its devices. */
export function deviceVerdict(devices: Change, options: ClusterOptions = {}): string[] {
  return verdict({ domain: { devices } }, options);
}

/** Admission's verdict on a new VirtualMachineInstance. */
export function judged(object: unknown, options: ClusterOptions = {}): string[] {
  const request = { kind: "VirtualMachineInstance", operation: "CREATE", object } as const;
  const { causes } = admit(request, cluster(options));
  return causes.map(shown);
}

/** A cause in a test, as in KubeVirt: `Invalid spec.hostname`; without the field if KubeVirt gives none. */
export function shown(cause: Cause): string {
  const { reason } = cause;
  const field = isFieldOurs(cause) ? undefined : cause.field;
  return [reason?.replace("FieldValue", "") ?? "schema", field].filter(Boolean).join(" ");
}

/** One object merged over another. */
export function overlay(base: unknown, change: unknown): Record<string, unknown> {
  const result: Record<string, unknown> = { ...(base as Record<string, unknown>) };
  for (const [key, value] of Object.entries(change as Record<string, unknown>)) {
    if (value === undefined) delete result[key];
    else result[key] = isPlain(value) && isPlain(result[key]) ? overlay(result[key], value) : value;
  }
  return result;
}

function isPlain(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
