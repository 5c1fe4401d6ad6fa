import { names } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { nodeResource, podResource } from "../plan/resources.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { serviceWorld, worldConfig } from "../testing/service-world.ts";
import { createControllers } from "./create-controllers.ts";
import { evacuationPart } from "./evacuation-part.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const { vmis, migrations } = vmResources(names());
const namespace = "default";

/** A launcher Pod of a VMI, on its node. */
function launcherPod(name: string, vmi: KubeObject["metadata"]): KubeObject {
  const owner = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance" };
  const uid = vmi.uid ?? "";
  const ownerReferences = [{ ...owner, name: vmi.name ?? "", uid, controller: true }];
  const { app, createdBy } = names().labels;
  const labels = { [app]: "virt-launcher", [createdBy]: uid };
  const containers = [{ name: "compute", image: "launcher:1" }];
  const spec = { nodeName: "node-1", containers };
  return { metadata: { namespace, name, ownerReferences, labels }, spec } as KubeObject;
}

test.each(["ends", "is deleted"])(
  "a VMI evicted before the Pod of its last move has ended leaves when that Pod %s",
  async (how) => {
    await using world = await serviceWorld();
    const { cluster } = world;
    const user = cluster.client("user");
    const vmi = admittedVmi("vm");
    const conditions = [{ type: "LiveMigratable", status: "True" }];
    const { metadata } = (await user.create(vmis, {
      ...vmi,
      spec: { ...Object(vmi).spec, evictionStrategy: "LiveMigrate" },
      status: { phase: "Running", nodeName: "node-1", evacuationNodeName: "node-1", conditions },
    } as KubeObject)) as KubeObject;
    for (const name of ["left", "present"]) {
      await user.create(podResource, launcherPod(name, metadata));
    }
    const controllers = createControllers({
      ...{ client: cluster.client("controller"), ...world.time, parts: [evacuationPart] },
      config: () => worldConfig,
    });
    world.start((signal) => controllers.run({ signal }));
    const made = async (): Promise<number> => (await user.list(migrations)).items.length;
    await cluster.clock.pass(60_000);
    expect(await made()).toBe(0);
    const left = { namespace, name: "left" };
    if (how === "ends") {
      const body = { status: { phase: "Succeeded" } };
      await user.patch(podResource, left, { type: "merge", body }, { subresource: "status" });
    } else {
      await user.delete(podResource, left);
    }
    await cluster.clock.pass(5_000);
    expect(await made()).toBe(1);
  },
);

test("a VMI that need not leave causes no pass, and one on a drained node leaves", async () => {
  await using world = await serviceWorld();
  const { cluster } = world;
  const user = cluster.client("user");
  let passes = 0;
  const count = (metric: string): void => {
    if (metric === "kube_reconciles") passes++;
  };
  const controllers = createControllers({
    ...{ client: cluster.client("controller"), ...world.time, parts: [evacuationPart] },
    config: () => worldConfig,
    metrics: { count, observe: () => {} },
  });
  world.start((signal) => controllers.run({ signal }));
  const taint = async (key: string): Promise<void> => {
    const body = { spec: { taints: [{ key, effect: "NoSchedule" }] } };
    await user.patch(nodeResource, { name: "node-1" }, { type: "merge", body });
    await cluster.clock.pass(5_000);
  };
  await taint("another");
  const add = async (name: string): Promise<void> => {
    const vmi = admittedVmi(name);
    const conditions = [{ type: "LiveMigratable", status: "True" }];
    await user.create(vmis, {
      ...vmi,
      spec: { ...Object(vmi).spec, evictionStrategy: "LiveMigrate" },
      status: { phase: "Running", nodeName: "node-1", conditions },
    } as KubeObject);
    await cluster.clock.pass(5_000);
  };
  const made = async (): Promise<readonly unknown[]> =>
    (await user.list(migrations)).items.map((each) => Object(each).spec.vmiName).sort();
  const before = passes;
  await add("stays");
  // The end of its Pod is not a reason to look, either.
  const { metadata } = await user.get(vmis, { namespace, name: "stays" });
  await user.create(podResource, launcherPod("ends", metadata));
  await cluster.clock.pass(1_000);
  await user.delete(podResource, { namespace, name: "ends" });
  await cluster.clock.pass(5_000);
  expect([passes, await made()]).toEqual([before, []]);
  await taint(worldConfig.cluster.migrations.nodeDrainTaintKey);
  expect(await made()).toEqual(["stays"]);
  await add("comes");
  expect(await made()).toEqual(["comes", "stays"]);
});
