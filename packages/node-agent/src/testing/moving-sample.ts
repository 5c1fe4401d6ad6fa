import { clusterConfig } from "@virtkit/api/config";
import type { Claimed, Handover, Holder } from "@virtkit/api/grant";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import type { MigrationReport } from "@virtkit/launcher/client";
import type { SourceView } from "../migration/plan-source-duty.ts";
import type { TargetView } from "../migration/plan-target-duty.ts";

export const config = clusterConfig();
const { labels } = config.names;
export const [from, to] = ["a", "b"].map(
  (name): Holder => ({
    ...{ podUID: `pod-${name}`, containerID: `containerd://${name}`, nonce: name },
    ...{ node: `node-${name}`, machineID: name, bootID: name },
  }),
) as [Holder, Holder];

export const claimed: Claimed = {
  ...{ state: "Claimed", vmiUID: "vmi-1", epoch: 1, seq: 3, holder: from },
};
export const handingOver: Handover = {
  ...{ state: "HandingOver", vmiUID: "vmi-1", epoch: 1, seq: 4 },
  ...{ holder: from, target: to, migrationUID: "m-1" },
};

/** A VMI that moves from node-a to node-b. */
export function movingVmi(
  state: Partial<VirtualMachineInstanceMigrationState> = {},
  metadata: VirtualMachineInstance["metadata"] = {},
): VirtualMachineInstance {
  const migrationState = {
    ...{ migrationUid: "m-1", sourceNode: "node-a", targetNode: "node-b", targetPod: "pod-b" },
    ...state,
  };
  return {
    metadata: {
      ...{ name: "demo", namespace: "default", uid: "vmi-1" },
      labels: { [labels.nodeName]: "node-a", [labels.migrationTargetNodeName]: "node-b" },
      ...metadata,
    },
    spec: { domain: { devices: {} } },
    status: { phase: "Running", nodeName: "node-a", migrationState },
  } as VirtualMachineInstance;
}

export const listening = {
  targetNodeAddress: "192.0.2.2",
  targetDirectMigrationNodePorts: { "4001": 0, "4002": 49152 },
};

export function report(change: Partial<MigrationReport> = {}): MigrationReport {
  return {
    ...{ migrationUID: "m-1", role: "source", revision: 3, step: "perform.before" },
    times: { "begin.before": 1_000, "perform.before": 2_000 },
    ...change,
  };
}

export function sourceView(change: Partial<SourceView> = {}): SourceView {
  return {
    ...{ vmi: movingVmi(listening), grant: handingOver, holder: from, node: "node-a" },
    ...{ domain: { state: "Running", reason: "" }, word: "unbegun", hasEnded: false },
    ...{ config, now: 10_000 },
    ...change,
  };
}

export function targetView(change: Partial<TargetView> = {}): TargetView {
  return {
    ...{ vmi: movingVmi(), grant: claimed, holder: to, node: "node-b" },
    ...{ domain: { state: "Absent", reason: "" }, word: "unbegun", hasEnded: false },
    ...{ listener: undefined, config, now: 10_000, deadFor: 0 },
    ...change,
  };
}
