import { clusterConfig } from "@virtkit/api/config";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { kubevirtLauncherProfile, lookupIn } from "@virtkit/launcher-pod";
import type { PodObject } from "../cluster-objects.ts";
import type { VmiPlanConfig } from "../vmi-plan-config.ts";
import type { VmiView } from "../vmi-view.ts";

const { annotations, finalizers, group } = names();

/** The clock of tests, in milliseconds since the epoch. */
export const sampleNow: number = Date.parse("2026-01-01T00:00:00Z");

/** A configuration for tests: KubeVirt's defaults. */
export const sampleConfig: VmiPlanConfig = {
  cluster: clusterConfig({}),
  profile: kubevirtLauncherProfile({ image: "launcher:1" }),
};

/** A small VMI. */
export function sampleVmi(status: VirtualMachineInstanceStatus = {}): VirtualMachineInstance {
  return {
    apiVersion: `${group}/v1`,
    kind: "VirtualMachineInstance",
    metadata: {
      namespace: "ns",
      name: "vm",
      uid: "vmi-uid",
      resourceVersion: "7",
      annotations: { [annotations.latestObservedApiVersion]: "v1" },
      finalizers: [finalizers.vmi],
    },
    spec: {
      architecture: "amd64",
      domain: { devices: {}, memory: { guest: "128Mi" }, machine: { type: "q35" } },
    },
    status,
  };
}

/** A launcher Pod of {@link sampleVmi} that runs. */
export function samplePod(parts: Partial<PodObject["metadata"]> = {}): PodObject {
  return {
    metadata: {
      namespace: "ns",
      name: "launcher",
      uid: "pod-uid",
      creationTimestamp: "2025-12-31T23:50:00Z",
      ownerReferences: [
        {
          apiVersion: `${group}/v1`,
          kind: "VirtualMachineInstance",
          name: "vm",
          uid: "vmi-uid",
          controller: true,
        },
      ],
      ...parts,
    },
    spec: { nodeName: "n1", containers: [{ name: "compute", image: "launcher:1", resources: {} }] },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [{ name: "compute", ready: true, state: { running: {} } }],
    },
  };
}

/** A view of a VMI with nothing else around it. */
export function sampleView(parts: Partial<VmiView> = {}): VmiView {
  return {
    vmi: sampleVmi(),
    pods: [],
    claims: [],
    dataVolumes: [],
    migrations: [],
    storageClasses: [],
    storageProfiles: [],
    cdi: { instances: 0 },
    nodes: () => [],
    vmis: () => [],
    lookup: lookupIn({}),
    ...parts,
  };
}
