import { clusterConfig } from "@virtkit/api/config";
import { encodeGrant, type Grant, grantAnnotation, type Holder } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { podResource } from "../plan/resources.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { type ServiceWorld, serviceWorld, worldConfig } from "../testing/service-world.ts";
import { createControllers, standardParts } from "./create-controllers.ts";
import { evacuationPart } from "./evacuation-part.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";
import { workloadUpdatePart } from "./workload-update-part.ts";

const { vmis, migrations, kubevirts } = vmResources(names());
const namespace = "default";

test("both are among the parts that run in a cluster", () => {
  expect(standardParts).toContain(workloadUpdatePart);
  expect(standardParts).toContain(evacuationPart);
});

/** A cluster with VMIs whose launchers have an old image, and the part that updates them. */
async function outdated(
  workloadUpdateStrategy: object,
  count: number,
): Promise<ServiceWorld & { readonly user: ReturnType<ServiceWorld["cluster"]["client"]> }> {
  const world = await serviceWorld();
  const user = world.cluster.client("user");
  for (let n = 0; n < count; n++) {
    const vmi = admittedVmi(`vm-${n}`);
    const conditions = [{ type: "LiveMigratable", status: "True" }];
    const launcherContainerImageVersion = "launcher:0";
    const status = { phase: "Running", nodeName: "node-1", conditions };
    await user.create(vmis, {
      ...vmi,
      status: { ...status, launcherContainerImageVersion },
    } as KubeObject);
  }
  const metadata = { namespace, name: "kubevirt" };
  await user.create(kubevirts, { metadata, spec: { workloadUpdateStrategy } } as KubeObject);
  const body = { status: { phase: "Deployed" } };
  await user.patch(kubevirts, metadata, { type: "merge", body }, { subresource: "status" });
  const cluster = clusterConfig({ migrations: { parallelMigrationsPerCluster: 2 } });
  const controllers = createControllers({
    ...{ client: world.cluster.client("controller"), ...world.time, parts: [workloadUpdatePart] },
    config: () => ({ ...worldConfig, cluster }),
  });
  world.start((signal) => controllers.run({ signal }));
  return Object.assign(world, { user });
}

/** The launcher Pod of a VMI. */
function launcherOf({ name, uid }: KubeObject["metadata"]): KubeObject {
  const owner = { apiVersion: "kubevirt.io/v1", kind: vmis.kind, name, uid, controller: true };
  return {
    metadata: {
      namespace,
      name: `virt-launcher-${name}`,
      labels: { [names().labels.app]: "virt-launcher", [names().labels.createdBy]: uid ?? "" },
      ownerReferences: [owner],
    },
    spec: { nodeName: "node-1", containers: [{ name: "compute", image: "launcher:0" }] },
  } as unknown as KubeObject;
}

test("outdated launchers get migrations, as many at once as the cluster allows", async () => {
  await using world = await outdated({ workloadUpdateMethods: ["LiveMigrate"] }, 5);
  const { user, cluster } = world;
  const all = async () => (await user.list(migrations)).items;
  const settle = async (phase: string): Promise<void> => {
    for (const each of await all()) {
      const { name = "" } = each.metadata;
      if (Object(each).status?.phase === "Succeeded") continue;
      if (phase === "Succeeded") {
        const vmi = { namespace, name: Object(each).spec.vmiName };
        const migrationState = { targetNodeDomainReadyTimestamp: "2026-01-01T00:00:00Z" };
        const moved = { status: { launcherContainerImageVersion: "launcher:1", migrationState } };
        await user.patch(vmis, vmi, { type: "merge", body: moved });
      }
      const body = { status: { phase } };
      const at = { namespace, name };
      await user.patch(migrations, at, { type: "merge", body }, { subresource: "status" });
    }
  };
  const counts: number[] = [];
  for (const round of [1, 2, 3]) {
    // Before the next look: the phase shows whether a migration takes a place.
    await cluster.clock.pass(8_000);
    await settle("Running");
    await cluster.clock.pass(600_000);
    counts.push((await all()).length);
    expect(Object(await user.get(kubevirts, { namespace, name: "kubevirt" })).status).toMatchObject(
      { outdatedVirtualMachineInstanceWorkloads: 5 - 2 * (round - 1) },
    );
    await settle("Succeeded");
  }
  expect(counts).toEqual([2, 4, 5]);
  const moved = (await all()).map((each) => Object(each).spec.vmiName);
  expect(moved.toSorted()).toEqual(["vm-0", "vm-1", "vm-2", "vm-3", "vm-4"]);
  await cluster.clock.pass(600_000);
  expect(await all()).toHaveLength(5);
  const refused = world.writes("controller").filter((write) => !/ 20[01]$/.test(write));
  expect(refused).toEqual([]);
});

test("if only evictions are allowed, they come in batches at the configured interval", async () => {
  const strategy = {
    workloadUpdateMethods: ["Evict"],
    batchEvictionSize: 2,
    batchEvictionInterval: "2m",
  };
  await using world = await outdated(strategy, 5);
  const { user, cluster } = world;
  const at: number[] = [];
  cluster.server.log.follow(({ kind, type, object, previous }) => {
    const isGoing = Boolean(object.metadata.deletionTimestamp);
    const wasGoing = Boolean(previous?.metadata.deletionTimestamp);
    if (kind === "/pods" && (type === "DELETED" ? !wasGoing : isGoing && !wasGoing)) {
      at.push(cluster.clock.now());
    }
  });
  for (const vmi of (await user.list(vmis)).items) {
    await user.create(podResource, launcherOf(vmi.metadata));
  }
  await cluster.clock.pass(900_000);
  const [first = 0] = at;
  const minutes = at.map((time) => Math.round((time - first) / 60_000));
  expect(minutes.slice(0, 2)).toEqual([0, 0]);
  // The next look after the interval is at most 30 s later.
  expect(minutes.slice(2, 4).every((minute) => minute >= 2 && minute <= 3)).toBe(true);
});

test("a Pod is evicted for an update only while its guest is in it, and not during a handover", async () => {
  await using world = await outdated({ workloadUpdateMethods: ["Evict"] }, 2);
  const { user, cluster } = world;
  const holderOf = (podUID: string): Holder => ({
    ...{ podUID, containerID: `containerd://${podUID}`, node: "node-1", machineID: "m" },
    ...{ bootID: "b", nonce: podUID },
  });
  for (const { metadata } of (await user.list(vmis)).items) {
    const { name = "", uid = "" } = metadata;
    const pod = await user.create(podResource, launcherOf(metadata));
    const holder = holderOf(pod.metadata.uid ?? "");
    const claimed = { vmiUID: uid, epoch: 1, seq: 3, holder };
    // The VMI's status does not show the handover yet.
    const moving = { target: holderOf("other"), migrationUID: "m" };
    const grant: Grant =
      name === "vm-0"
        ? { state: "HandingOver", ...claimed, ...moving }
        : { state: "Claimed", ...claimed };
    const annotations = { [names().own(grantAnnotation)]: encodeGrant(grant) };
    const body = { metadata: { annotations } };
    await user.patch(vmis, { namespace, name }, { type: "merge", body });
  }
  await cluster.clock.pass(300_000);
  const left = (await user.list(podResource, { namespace })).items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);
  expect(left).toEqual(["virt-launcher-vm-0"]);
});
