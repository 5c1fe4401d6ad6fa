import { decodeGrant, grantAnnotation, type ReadGrant } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import { pods } from "../cluster/core-resources.ts";
import {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "../cluster/create-test-cluster.ts";
import { toyVmi, toyVmiController, vmis } from "./testing/toy-vmi-controller.ts";

const at = { namespace: "default", name: "demo" };
const key = "default/demo";
const launcher = { namespace: "default", name: "launcher-demo" };

interface World extends AsyncDisposable {
  readonly cluster: TestCluster;
  phase(): Promise<string | undefined>;
  grant(): Promise<ReadGrant>;
}

/** A cluster with a toy controller, and one VMI whose guest has started. */
async function world(options: TestClusterOptions = {}): Promise<World> {
  const cluster = await createTestCluster({ guests: true, ...options });
  const over = new AbortController();
  const { clock, random } = cluster;
  const client = cluster.client("toy controller");
  const wall = () => cluster.dates.of("toy controller");
  toyVmiController({ client, clock, random, wall, signal: over.signal }).catch(() => {});
  await client.create(vmis, toyVmi("demo"));
  await cluster.settle();
  return {
    cluster,
    phase: async () => (await client.get(vmis, at)).status?.phase,
    async grant() {
      const { metadata } = await client.get(vmis, at);
      const value = metadata.annotations?.[names().own(grantAnnotation)];
      return decodeGrant(value, metadata.uid ?? "");
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await clock.pass(1000);
      await cluster[Symbol.asyncDispose]();
    },
  };
}

test("a launcher Pod on a node carries a guest, which runs once its grant is claimed", async () => {
  await using given = await world();
  const { cluster } = given;
  expect(await cluster.guest(key).status()).toMatchObject({ state: "Running", agent: "connected" });
  expect(await given.phase()).toBe("Running");
  const [found] = cluster.launchers(key);
  const { containerID, node } = found ?? {};
  expect(await given.grant()).toMatchObject({ state: "Claimed", holder: { containerID, node } });
  const { status } = await cluster.client().get(vmis, at);
  expect(status?.conditions).toMatchObject([{ type: "AgentConnected", status: "True" }]);
  const before = cluster.writes("node agent node-1").length;
  await cluster.clock.pass(30_000);
  expect(cluster.writes("node agent node-1").length - before).toBeLessThan(2);
});

test("nothing starts without a grant for its Pod", async () => {
  await using cluster = await createTestCluster({ guests: true });
  const client = cluster.client();
  const { metadata, spec } = toyVmi("demo");
  const { uid = "" } = (await client.create(vmis, { metadata, spec })).metadata;
  const labels = { "kubevirt.io": "virt-launcher", "kubevirt.io/created-by": uid };
  const annotations = { "kubevirt.io/domain": "demo" };
  const containers = [{ name: "compute", image: "launcher" }];
  await client.create(pods, {
    metadata: { ...launcher, labels, annotations },
    spec: { containers },
  });
  const body = { status: { phase: "Scheduled", nodeName: "node-1" } };
  await client.patch(vmis, at, { type: "merge", body });
  await cluster.settle();
  expect((await cluster.guest(key).status()).state).toBe("Absent");
});

test("a guest that shuts itself down ends its launcher, and the grant ends with proof", async () => {
  await using given = await world();
  const { cluster } = given;
  cluster.guest(key).happen({ kind: "power-off" });
  await cluster.settle();
  expect(await given.phase()).toBe("Succeeded");
  expect((await given.grant()).state).toBe("Ended");
  expect((await cluster.client().get(pods, launcher)).status?.phase).toBe("Succeeded");
  expect(() => cluster.guest(key)).toThrow("no node has a launcher of default/demo");
});

test("the VMI fails when QEMU ends", async () => {
  await using given = await world();
  given.cluster.guest(key).happen({ kind: "qemu-ends" });
  await given.cluster.settle();
  expect(await given.phase()).toBe("Failed");
  expect((await given.grant()).state).toBe("Ended");
});

test("deleting a VMI shuts its guest down, and kills one that does not obey", async () => {
  for (const [shutdown, phase] of [
    [2000, "Succeeded"],
    [undefined, "Failed"],
  ] as const) {
    await using given = await world({ guests: { script: () => ({ shutdown }) } });
    const client = given.cluster.client();
    const body = { metadata: { finalizers: ["test/hold"] } };
    await client.patch(vmis, at, { type: "merge", body });
    await client.delete(vmis, at);
    await given.cluster.settle();
    expect([await given.phase(), (await given.grant()).state]).toEqual([phase, "Ended"]);
  }
});

test("deleting a Pod shuts its guest down within its grace period", async () => {
  await using given = await world();
  await given.cluster.client().delete(pods, launcher);
  await given.cluster.settle();
  expect([await given.phase(), (await given.grant()).state]).toEqual(["Succeeded", "Ended"]);
});

test("a node without power reports nothing, and the claim stays", async () => {
  await using given = await world();
  const { cluster } = given;
  cluster.nodes[0]?.cutPower();
  await cluster.settle();
  expect(cluster.launchers()).toEqual([]);
  expect([await given.phase(), (await given.grant()).state]).toEqual(["Running", "Claimed"]);
});

test("a node agent that is away for a while starts nothing, and catches up later", async () => {
  await using given = await world();
  const { cluster } = given;
  cluster.agent("node-1").stop();
  cluster.guest(key).happen({ kind: "power-off" });
  await cluster.settle();
  expect(await given.phase()).toBe("Running");
  cluster.agent("node-1").start();
  await cluster.settle();
  expect([await given.phase(), (await given.grant()).state]).toEqual(["Succeeded", "Ended"]);
});

test("a node agent that cannot reach the API server lets its guest run, and reports later", async () => {
  await using given = await world({ nodes: 2 });
  const { cluster } = given;
  const [{ node } = { node: "" }] = cluster.launchers(key);
  cluster.network.cut(`node agent ${node}`, "api-server");
  await cluster.guest(key).pause();
  await cluster.clock.pass(120_000);
  const paused = async () =>
    (await cluster.client().get(vmis, at)).status?.conditions?.some(
      ({ type }) => type === "Paused",
    );
  expect([await paused(), cluster.launchers(key).length]).toEqual([false, 1]);
  cluster.network.mendAll();
  await cluster.settle();
  expect(await paused()).toBe(true);
});

test("a node with a wrong date shows it in its heartbeat, and its guest keeps running", async () => {
  await using given = await world();
  const { cluster } = given;
  cluster.dates.jump("node-1", -3_600_000);
  await cluster.clock.pass(120_000);
  expect(cluster.guest(key)).toBeDefined();
  const { metadata } = await cluster
    .client()
    .get({ ...pods, plural: "nodes", namespaced: false }, { name: "node-1" });
  const beat = Date.parse(metadata.annotations?.["kubevirt.io/heartbeat"] ?? "");
  expect(cluster.server.date().getTime() - beat).toBeGreaterThan(3_500_000);
});

test("a function that needs guests says how to get them", async () => {
  await using cluster = await createTestCluster();
  expect(() => cluster.guest(key)).toThrow("{ guests: true }");
  expect(() => cluster.agent("node-1")).toThrow("{ guests: true }");
});
