import { names } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { podResource } from "../plan/resources.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { serviceWorld, worldConfig } from "../testing/service-world.ts";
import { createControllers } from "./create-controllers.ts";
import { evacuationPart } from "./evacuation-part.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const { vmis, migrations } = vmResources(names());
const namespace = "default";

test.each(["ends", "is deleted"])(
  "a VMI that is evicted before the Pod of its last move has ended leaves when that Pod %s",
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
    const owner = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name: "vm" };
    for (const name of ["left", "present"]) {
      const ownerReferences = [{ ...owner, uid: metadata.uid ?? "", controller: true }];
      const { app, createdBy } = names().labels;
      await user.create(podResource, {
        metadata: {
          ...{ namespace, name, ownerReferences },
          labels: { [app]: "virt-launcher", [createdBy]: metadata.uid ?? "" },
        },
        spec: { nodeName: "node-1", containers: [{ name: "compute", image: "launcher:1" }] },
      } as KubeObject);
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
