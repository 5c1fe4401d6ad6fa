import { mutate } from "@virtkit/api/admission";
import { clusterConfig } from "@virtkit/api/config";
import { crds } from "@virtkit/api/crd";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import { encodeGrant, freeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { createControllers } from "@virtkit/controller/service";
import { defineResource, type JsonPatchOperation, type KubeObject } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import type { Admission } from "@virtkit/testing/api-server";
import type { TestCluster } from "@virtkit/testing/cluster";
import type { ActorMain, Scenario } from "@virtkit/testing/faults";
import { nodeAgentOn } from "./simulated-node.ts";

const names = namesOf();
const { annotations, finalizers, group, labels, nodeLabels } = names;
const config = clusterConfig({ developerConfiguration: { useEmulation: true } });
const resource = (plural: string, kind: string) =>
  defineResource({ group, version: "v1", plural, kind });

const vms = resource("virtualmachines", "VirtualMachine");
export const vmis = resource("virtualmachineinstances", "VirtualMachineInstance");
export const migrations = resource(
  "virtualmachineinstancemigrations",
  "VirtualMachineInstanceMigration",
);
export const nodes = defineResource({
  ...{ version: "v1", plural: "nodes", kind: "Node", namespaced: false },
});

/** The one VMI of these scenarios. */
export const vm = { namespace: "default", name: "vm" };
export const key = "default/vm";

/** All controllers, as they run in a cluster. */
const controllers: ActorMain = async ({ signal, ...parts }) => {
  const profile = virtkitLauncherProfile({ image: "launcher:1" });
  await createControllers({ ...parts, config: () => ({ cluster: config, profile }) }).run({
    signal,
  });
};

/**
 * The whole control plane: controllers and node agents as they are in a cluster, with kubelets, scheduler, launchers and
 * guests that are simulated.
 */
export function controlPlane(
  name: string,
  play: Scenario["play"],
  others: Scenario["actors"] = {},
): Scenario {
  return {
    ...{ name, play },
    cluster: { nodes: 2, guests: { agents: false }, objects: crds() as unknown as KubeObject[] },
    actors: {
      controller: controllers,
      "node agent node-1": nodeAgentOn("node-1"),
      "node agent node-2": nodeAgentOn("node-2"),
      ...others,
    },
    invariants: {
      "at most one copy runs": (cluster) => {
        const running = cluster.launchers(key).filter(({ isRunning }) => isRunning);
        return running.length > 1 ? `it runs on ${running.map(({ node }) => node)}` : undefined;
      },
    },
  };
}

function vmiAsWritten(): VirtualMachineInstance {
  const interfaces = [{ name: "default", masquerade: {} }];
  const devices = { logSerialConsole: false, interfaces };
  return {
    ...{ apiVersion: `${group}/v1`, kind: "VirtualMachineInstance", metadata: vm },
    spec: {
      domain: { devices, memory: { guest: "64Mi" } },
      networks: [{ name: "default", pod: {} }],
      evictionStrategy: "LiveMigrate",
    },
  } as unknown as VirtualMachineInstance;
}

/** A VMI as the webhook admits it. */
export function admittedVmi(): KubeObject {
  const vmi = vmiAsWritten();
  // Nothing random and no date other than the simulation's: otherwise a seed would not reproduce a run.
  const { metadata, ...rest } = defaultVirtualMachineInstance(vmi, config, {
    uuid: () => "6d1a6a0c-2f6b-4b0e-9f0a-0d6c6f3f7a10",
    now: () => new Date("2026-01-01T00:01:00Z"),
  });
  const own = { [names.own(grantAnnotation)]: encodeGrant(freeGrant) };
  const marked = { ...metadata, annotations: { ...metadata?.annotations, ...own } };
  return JSON.parse(JSON.stringify({ ...rest, metadata: marked })) as KubeObject;
}

/** A migration as the webhook admits it. */
export function admittedMigration(name: string): KubeObject {
  return {
    ...{ apiVersion: `${group}/v1`, kind: "VirtualMachineInstanceMigration" },
    metadata: {
      ...{ namespace: vm.namespace, name, finalizers: [finalizers.migration] },
      labels: { [labels.vmiName]: vm.name },
      annotations: {
        [annotations.latestObservedApiVersion]: "v1",
        [annotations.storageObservedApiVersion]: "v1",
      },
    },
    spec: { vmiName: vm.name },
  } as KubeObject;
}

/** What node agents report about their nodes. */
async function reportNodes(cluster: TestCluster): Promise<void> {
  const labels = {
    [`${nodeLabels.hostModelCpu}Skylake`]: "true",
    [`${nodeLabels.cpuModelMigration}Skylake`]: "true",
    [`${nodeLabels.machineType}q35`]: "true",
  };
  const patch = { type: "merge", body: { metadata: { labels } } } as const;
  for (const { name } of cluster.nodes) await cluster.client("user").patch(nodes, { name }, patch);
  await cluster.clock.pass(61_000);
}

/** The mutating webhook for VMs and VMIs, without HTTPS. */
export const webhook: Admission = {
  mutate: ({ operation, resource: { kind }, object, previous, subresource }) => {
    const isOurs = kind === "VirtualMachine" || kind === "VirtualMachineInstance";
    if (subresource || operation === "DELETE" || !isOurs) return { allowed: true };
    const username = "system:serviceaccount:kubevirt:kubevirt-controller";
    const request = { kind, operation, object, oldObject: previous, username } as const;
    const mutation = mutate(request, config, { marks: true });
    if (!mutation.allowed) return mutation;
    const patch = JSON.parse(JSON.stringify(mutation.patch)) as JsonPatchOperation[];
    // API servers let a webhook replace a status that is missing.
    const lenient = patch.map((each) =>
      each.op === "replace" ? { ...each, op: "add" as const } : each,
    );
    return { allowed: true, patch: lenient };
  },
};

/** Creates a VM, in a cluster with the {@link webhook} and nodes whose agents have reported. Its VMI has its name. */
export async function startVm(cluster: TestCluster): Promise<void> {
  await reportNodes(cluster);
  const { spec } = vmiAsWritten();
  await cluster.client("user").create(vms, {
    ...{ apiVersion: `${group}/v1`, kind: "VirtualMachine", metadata: vm },
    spec: { runStrategy: "Always", template: { spec } },
  } as unknown as KubeObject);
  await cluster.clock.pass(30_000);
}

/** Creates a VMI, on nodes whose agents have reported. */
export async function startVmi(cluster: TestCluster): Promise<void> {
  await reportNodes(cluster);
  await cluster.client("user").create(vmis, admittedVmi());
  // Slow enough for something to happen while the guest moves: eight seconds.
  cluster.wires().bandwidth = 8 * 2 ** 20;
  await cluster.clock.pass(30_000);
}
