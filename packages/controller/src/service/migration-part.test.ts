import { clusterConfig } from "@virtkit/api/config";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { nodeResource, podResource } from "../plan/resources.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { admittedVmi } from "../testing/admit-vmi.ts";
import { type ServiceWorld, serviceWorld, worldConfig } from "../testing/service-world.ts";

const { vmis, migrations } = vmResources(names());
const { annotations, finalizers, labels, nodeLabels } = names();

/** What node agents report for two equal CPUs. */
const cpuLabels = {
  [`${nodeLabels.hostModelCpu}Skylake`]: "true",
  [`${nodeLabels.cpuModelMigration}Skylake`]: "true",
};

/** A migration as the mutating webhook admits it. */
function migrationOf(vmiName: string, priority?: string): KubeObject {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstanceMigration",
    metadata: {
      namespace: "default",
      name: `move-${vmiName}`,
      finalizers: [finalizers.migration],
      labels: { [labels.vmiName]: vmiName },
      annotations: {
        [annotations.latestObservedApiVersion]: "v1",
        [annotations.storageObservedApiVersion]: "v1",
      },
    },
    spec: { vmiName, ...(priority && { priority }) },
  } as KubeObject;
}

async function runningVmi(world: ServiceWorld, name: string): Promise<void> {
  const user = world.cluster.client("user");
  for (const node of ["node-1", "node-2"]) {
    const body = { metadata: { labels: cpuLabels } };
    await user.patch(nodeResource, { name: node }, { type: "merge", body });
  }
  await user.create(vmis, admittedVmi(name));
  await world.cluster.clock.pass(30_000);
  // What the node agent reports once the guest runs.
  const body = { status: { selinuxContext: "none", runtimeUser: 107 } };
  await user.patch(vmis, { namespace: "default", name }, { type: "merge", body });
}

const phaseOf = async (world: ServiceWorld, name: string) =>
  (
    (await world.cluster
      .client("user")
      .get(migrations, { namespace: "default", name })) as VirtualMachineInstanceMigration
  ).status?.phase;

test("a migration gets its target Pod on another node, and the node agents are informed of it", async () => {
  await using world = await serviceWorld({ nodes: 2 });
  world.startControllers("controller");
  await world.cluster.clock.pass(5_000);
  await runningVmi(world, "vm");
  const user = world.cluster.client("user");
  const { status: before } = (await user.get(vmis, {
    namespace: "default",
    name: "vm",
  })) as VirtualMachineInstance;
  await user.create(migrations, migrationOf("vm"));
  await world.cluster.clock.pass(60_000);
  expect(await phaseOf(world, "move-vm")).toBe("PreparingTarget");
  const { status, metadata } = (await user.get(vmis, {
    namespace: "default",
    name: "vm",
  })) as VirtualMachineInstance;
  const { targetNode, sourceNode, targetPod } = status?.migrationState ?? {};
  expect(sourceNode).toBe(before?.nodeName);
  expect(targetNode).not.toBe(sourceNode);
  expect(metadata?.labels?.[labels.migrationTargetNodeName]).toBe(targetNode);
  const pods = (await user.list(podResource)).items.map((pod) => pod.metadata.name);
  expect(pods).toContain(targetPod);
  expect(pods).toHaveLength(2);
});

test("a migration without its VMI is deleted", async () => {
  await using world = await serviceWorld({ nodes: 2 });
  world.startControllers("controller");
  await world.cluster.clock.pass(5_000);
  const user = world.cluster.client("user");
  const { metadata: lost, ...orphan } = migrationOf("nobody");
  await user.create(migrations, { ...orphan, metadata: { ...lost, finalizers: [] } });
  await world.cluster.clock.pass(10_000);
  expect((await user.list(migrations)).items).toEqual([]);
});

test("of the migrations that wait for a place, the one with the highest priority takes it", async () => {
  await using world = await serviceWorld({ nodes: 2 });
  const migrationLimits = { parallelMigrationsPerCluster: 1 };
  const cluster = clusterConfig({
    ...worldConfig.cluster.configuration,
    migrations: migrationLimits,
  });
  world.startControllers("controller", { config: () => ({ ...worldConfig, cluster }) });
  await world.cluster.clock.pass(5_000);
  const waiting = [
    ["first", undefined],
    ["of-a-user", undefined],
    ["of-a-descheduler", "system-maintenance"],
    ["of-a-change", "user-triggered"],
    ["of-a-drain", "system-critical"],
    ["of-a-later-change", "user-triggered"],
  ] as const;
  for (const [name] of waiting) await runningVmi(world, name);
  const user = world.cluster.client("user");
  for (const [name, priority] of waiting) {
    await user.create(migrations, migrationOf(name, priority));
    await world.cluster.clock.pass(2_000);
  }
  await world.cluster.clock.pass(20_000);
  const order: string[] = [];
  for (const _ of waiting) {
    const all = (await user.list(migrations)).items as readonly VirtualMachineInstanceMigration[];
    const started = all.filter(
      ({ status }) => !["", "Pending", "Failed"].includes(status?.phase ?? ""),
    );
    expect(started).toHaveLength(1);
    const name = started[0]?.metadata?.name ?? "";
    order.push(name.replace("move-", ""));
    const body = { status: { phase: "Failed" } };
    const at = { namespace: "default", name };
    await user.patch(migrations, at, { type: "merge", body }, { subresource: "status" });
    await world.cluster.clock.pass(30_000);
  }
  expect(order).toEqual([
    ...["first", "of-a-drain", "of-a-change", "of-a-later-change"],
    ...["of-a-descheduler", "of-a-user"],
  ]);
});
