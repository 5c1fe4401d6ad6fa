import { clusterConfig } from "@virtkit/api/config";
import type {
  Devices,
  DomainSpec,
  KubeVirtConfiguration,
  ObjectMeta,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import { type ClusterObjects, lookupIn } from "../cluster-lookup.ts";
import { kubevirtLauncherProfile } from "../kubevirt-profile.ts";
import type { Container, ContainerResources } from "../pod/container.ts";
import type { Pod } from "../pod/pod.ts";
import { type LauncherPodOptions, renderLauncherPod } from "../render-launcher-pod.ts";

/** The parts of a VMI that a test is about. */
export interface VmiParts {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<VirtualMachineInstanceSpec>;
  readonly domain?: Partial<DomainSpec>;
  readonly devices?: Partial<Devices>;
  readonly status?: VirtualMachineInstanceStatus;
}

/** Where a test's VMI runs. */
export interface Scene extends LauncherPodOptions {
  readonly configuration?: KubeVirtConfiguration;
  readonly objects?: ClusterObjects;
}

/** A VMI with just enough to have a Pod: unprivileged, 1Gi of memory, no disk, no network. */
export function testVmi({
  metadata,
  spec,
  domain,
  devices,
  status,
}: VmiParts = {}): VirtualMachineInstance {
  return {
    metadata: { name: "guest", namespace: "ns", uid: "uid-1", ...metadata },
    spec: {
      ...spec,
      domain: {
        resources: { requests: { memory: "1Gi" } },
        ...domain,
        devices: { autoattachPodInterface: false, ...devices },
      },
    },
    status: { runtimeUser: 107, ...status },
  };
}

/** The profile with which tests render, except those about profiles. */
export const testProfile = kubevirtLauncherProfile({ image: "launcher:1" });

/** Renders a test's VMI for KubeVirt's launcher. */
export function render(parts: VmiParts, { configuration, objects, ...options }: Scene = {}): Pod {
  const lookup = lookupIn(objects ?? {});
  const config = clusterConfig(configuration ?? {});
  return renderLauncherPod(testVmi(parts), config, lookup, { profile: testProfile, ...options });
}

/** The configuration in which some gates are on. */
export function withGates(...featureGates: string[]): Scene {
  return { configuration: { developerConfiguration: { featureGates } } };
}

/** The configuration in which some gates are off. */
export function withoutGates(...disabledFeatureGates: string[]): Scene {
  return { configuration: { developerConfiguration: { disabledFeatureGates } } };
}

/** A container of a Pod by name, including init containers. */
export function container(pod: Pod, name: string): Container | undefined {
  const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return all.find((candidate) => candidate.name === name);
}

/** Resources of a Pod's compute container. */
export function resources(pod: Pod): ContainerResources {
  return pod.spec.containers[0]?.resources ?? {};
}

/** A claim in the test's namespace. */
export function claim(
  name: string,
  spec: { volumeMode?: string; accessModes?: string[] } = {},
  metadata: ObjectMeta = {},
): NonNullable<ClusterObjects["persistentVolumeClaims"]>[number] {
  return { metadata: { name, namespace: "ns", uid: `uid-of-${name}`, ...metadata }, spec };
}
