import { names } from "@virtkit/api/names";
import type { VirtualMachine, VirtualMachineCondition } from "@virtkit/api/schema";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import type { KubeObject } from "@virtkit/kube";
import type { AccessQuestion } from "@virtkit/testing/api-server";
import { createTestCluster, type TestCluster } from "@virtkit/testing/cluster";
import { expect, onTestFinished, test } from "vitest";
import { claimResource } from "../plan/resources.ts";
import { dataVolumeResource } from "../plan/vm-resources.ts";
import { cdiDefinitions, runScriptedCdi } from "../testing/scripted-cdi.ts";
import {
  controllerActor,
  resources,
  VmUser,
  vmClusterOptions,
  vmWithDisk,
} from "../testing/vm-cluster.ts";
import { dataSourceResource, typeResources } from "./shared-resources.ts";

/** A cluster with CDI, all controllers, and a namespace of golden images. */
async function start(
  mayClone: (question: AccessQuestion) => boolean = () => true,
): Promise<{ readonly cluster: TestCluster; readonly user: VmUser }> {
  const golden = { apiVersion: "v1", kind: "Namespace", metadata: { name: "golden" } };
  const cluster = await createTestCluster(
    vmClusterOptions({
      objects: [...cdiDefinitions, golden],
      authorizer: mayClone,
      guests: { script: () => ({ shutdown: 500, agent: undefined }) },
    }),
  );
  const stop = new AbortController();
  const { clock, random } = cluster;
  const context = { clock, random, signal: stop.signal, wall: () => cluster.server.date() };
  const client = cluster.client("controller");
  const running = [
    controllerActor(undefined, { cdi: true })({ ...context, client }),
    runScriptedCdi({ ...context, client: cluster.client("cdi") }),
  ];
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(running);
    await cluster[Symbol.asyncDispose]();
  });
  await clock.pass(5_000);
  return { cluster, user: new VmUser(cluster) };
}

const statusOf = async (user: VmUser): Promise<string | undefined> =>
  (await user.vm())?.status?.printableStatus;

/** Why the last pass over the VM failed. */
async function failureOf(user: VmUser): Promise<string | undefined> {
  const conditions = conditionsOf<VirtualMachineCondition>(await user.vm());
  return findCondition(conditions, "Failure")?.message;
}

test("a VM clones its disk from another namespace once it may, waits until it is filled, runs, and takes it with it", async () => {
  const asked: AccessQuestion[] = [];
  let mayClone = false;
  const { cluster, user } = await start((question) => {
    asked.push(question);
    return mayClone;
  });
  const sourceRef = { kind: "DataSource", name: "server", namespace: "golden" };
  await user.create("Always", vmWithDisk("disk", { sourceRef }));
  await cluster.clock.pass(10_000);
  expect(await failureOf(user)).toContain('"server", which does not exist in namespace "golden"');

  const source = { pvc: { name: "image", namespace: "golden" } };
  const metadata = { namespace: "golden", name: "server" };
  await user.client.create(dataSourceResource, { metadata, spec: { source } } as KubeObject);
  // A pass that has failed is repeated every 30 seconds at most.
  await cluster.clock.pass(40_000);
  expect(await failureOf(user)).toContain(
    "service account default/default may not clone golden/image",
  );
  expect(await user.all(dataVolumeResource)).toEqual([]);
  expect(asked[0]).toMatchObject({
    user: "system:serviceaccount:default:default",
    verb: "create",
    namespace: "golden",
    resource: "datavolumes",
    subresource: "source",
    name: "image",
  });

  mayClone = true;
  while ((await user.all(dataVolumeResource)).length === 0) await cluster.clock.pass(1_000);
  await cluster.clock.pass(5_000);
  // The source that was checked, not the reference, which somebody could change now.
  expect((await user.all(dataVolumeResource))[0]).toMatchObject({ spec: { source } });
  expect([await statusOf(user), await user.vmi()]).toEqual(["Provisioning", undefined]);
  await cluster.clock.pass(60_000);
  expect([await statusOf(user), await failureOf(user)]).toEqual(["Running", undefined]);

  await user.remove();
  await cluster.clock.pass(60_000);
  const kinds = [resources.vms, resources.vmis, resources.pods, resources.revisions];
  for (const kind of [...kinds, dataVolumeResource, claimResource]) {
    expect(await user.all(kind)).toEqual([]);
  }
  const refused = cluster.writes("controller").filter(({ status }) => status >= 300);
  expect(refused).toEqual([]);
});

test("a VM keeps what its instance type was when it was created, until somebody changes its reference", async () => {
  const { cluster, user } = await start();
  const { clusterInstancetypes } = typeResources(names());
  const typeOf = (name: string, guest: number): KubeObject =>
    ({ metadata: { name }, spec: { cpu: { guest }, memory: { guest: "64Mi" } } }) as KubeObject;
  await user.client.create(clusterInstancetypes, typeOf("small", 1));
  await user.client.create(clusterInstancetypes, typeOf("large", 4));
  const domain = { devices: { logSerialConsole: false } };
  const spec = {
    instancetype: { name: "small" },
    template: { spec: { architecture: "amd64", domain } },
  };
  await user.create("Always", spec as unknown as VirtualMachine["spec"]);
  await cluster.clock.pass(60_000);
  const vcpus = async (): Promise<number> => {
    const { sockets = 1, cores = 1, threads = 1 } = (await user.vmi())?.spec.domain.cpu ?? {};
    return sockets * cores * threads;
  };
  expect([await statusOf(user), await vcpus()]).toEqual(["Running", 1]);

  const change = { type: "merge", body: { spec: { cpu: { guest: 2 } } } } as const;
  await user.client.patch(clusterInstancetypes, { name: "small" }, change);
  await user.remove(resources.vmis);
  await cluster.clock.pass(60_000);
  expect([await statusOf(user), await vcpus()]).toEqual(["Running", 1]);

  await user.patch({ spec: { instancetype: { name: "large" } } });
  await cluster.clock.pass(10_000);
  await user.remove(resources.vmis);
  await cluster.clock.pass(60_000);
  expect([await statusOf(user), await vcpus()]).toEqual(["Running", 4]);
});
