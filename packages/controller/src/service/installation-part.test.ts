import { clusterConfig } from "@virtkit/api/config";
import { names } from "@virtkit/api/names";
import { defineResource, type KubeObject, type Resource } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import { vmResources } from "../plan/vm-resources.ts";
import { serviceWorld, worldConfig } from "../testing/service-world.ts";
import { createControllers } from "./create-controllers.ts";
import { installationPart } from "./installation-part.ts";
import { daemonSetResource, deploymentResource } from "./shared-resources.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";
import { workloadUpdatePart } from "./workload-update-part.ts";

const { vmis, migrations, kubevirts } = vmResources(names());
const namespaces = defineResource({
  ...{ version: "v1", plural: "namespaces", kind: "Namespace" },
  namespaced: false,
});
const namespace = "kubevirt";

test("VMs with an old launcher move by themselves once the new installation is complete, and not before", async () => {
  await using world = await serviceWorld();
  const { cluster } = world;
  const user = cluster.client("user");
  const labels = { app: "x" };
  const spec = {
    ...{ replicas: 1, selector: { matchLabels: labels } },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "launcher:1" }] } },
  };
  const { replicas: _, ...daemon } = spec;
  const programs: readonly (readonly [Resource, string, object, object])[] = [
    ...["virt-api", "virt-controller"].map(
      (name) =>
        [
          ...[deploymentResource, name, spec],
          { observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1 },
        ] as [Resource, string, object, object],
    ),
    [
      ...([daemonSetResource, "virt-handler", daemon] as const),
      {
        ...{ observedGeneration: 1, desiredNumberScheduled: 1, numberReady: 1 },
        ...{ updatedNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 0 },
      },
    ],
  ];
  await user.create(namespaces, { metadata: { name: namespace } });
  for (const [resource, name, of] of programs) {
    await user.create(resource, { metadata: { namespace, name }, spec: of } as KubeObject);
  }
  const workloadUpdateStrategy = { workloadUpdateMethods: ["LiveMigrate"] };
  const metadata = { namespace, name: "kubevirt" };
  await user.create(kubevirts, { metadata, spec: { workloadUpdateStrategy } } as KubeObject);
  await user.create(vmis, {
    ...admittedVmi("vm"),
    status: {
      ...{ phase: "Running", nodeName: "node-1", launcherContainerImageVersion: "launcher:0" },
      conditions: [{ type: "LiveMigratable", status: "True" }],
    },
  } as KubeObject);
  const controllers = createControllers({
    ...{ client: cluster.client("controller"), ...world.time },
    parts: [workloadUpdatePart, installationPart({ namespace, architecture: "amd64" })],
    config: () => ({
      cluster: clusterConfig({}),
      profile: virtkitLauncherProfile({ image: worldConfig.profile.image }),
    }),
  });
  world.start((signal) => controllers.run({ signal }));
  const statusOf = async () => Object(await user.get(kubevirts, metadata)).status;
  const moves = async () => (await user.list(migrations)).items.length;
  await cluster.clock.pass(60_000);
  expect([(await statusOf()).phase, await moves()]).toEqual(["Deploying", 0]);
  for (const [resource, name, , status] of programs) {
    const patch = { type: "merge", body: { status } } as const;
    await user.patch(resource, { namespace, name }, patch, { subresource: "status" });
  }
  await cluster.clock.pass(60_000);
  expect([(await statusOf()).phase, await moves()]).toEqual(["Deployed", 1]);
  expect(await statusOf()).toMatchObject({ outdatedVirtualMachineInstanceWorkloads: 1 });
  const writes = world.writes("controller").length;
  await cluster.clock.pass(600_000);
  // While nothing changes, nothing is written.
  expect(world.writes("controller")).toHaveLength(writes);
});
