import { expect, test } from "vitest";
import { pods } from "./core-resources.ts";
import { createTestCluster } from "./create-test-cluster.ts";

const pod = (name: string, spec: object = {}) => ({
  metadata: { namespace: "default", name },
  spec: { containers: [{ name: "main", image: "demo" }], ...spec },
});
const at = (name: string) => ({ namespace: "default", name });

test("a Pod is scheduled, started, and gone after its deletion", async () => {
  await using cluster = await createTestCluster({ nodes: 2 });
  const client = cluster.client();
  await client.create(pods, pod("a"));
  await cluster.settle();
  const running = await client.get(pods, at("a"));
  expect(running.spec?.nodeName).toMatch(/^node-[12]$/);
  expect(running.status).toMatchObject({ phase: "Running", podIP: expect.any(String) });
  expect(running.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  await client.delete(pods, at("a"));
  await cluster.settle();
  await expect(client.get(pods, at("a"))).rejects.toMatchObject({ reason: "NotFound" });
});

test("a Pod that fits nowhere says so, and is scheduled once a node fits", async () => {
  await using cluster = await createTestCluster();
  const client = cluster.client();
  await client.create(pods, pod("a", { nodeSelector: { disk: "fast" } }));
  await cluster.settle();
  const waiting = await client.get(pods, at("a"));
  expect(waiting.status?.conditions).toMatchObject([
    { type: "PodScheduled", status: "False", reason: "Unschedulable" },
  ]);
});

test("the same seed gives the same writes, another one other names", async () => {
  const run = async (seed: number) => {
    await using cluster = await createTestCluster({ nodes: 3, seed });
    const client = cluster.client();
    for (const name of ["a", "b", "c", "d"]) await client.create(pods, pod(name));
    await cluster.settle();
    const ids = (await client.list(pods)).items.map(
      ({ status }) => status?.containerStatuses?.[0]?.containerID,
    );
    return JSON.stringify([cluster.writes(), ids]);
  };
  expect(await run(1)).toBe(await run(1));
  expect(await run(1)).not.toBe(await run(2));
});

test("a node that loses its power leaves its Pods as they were told last", async () => {
  await using cluster = await createTestCluster();
  const client = cluster.client();
  await client.create(pods, pod("a"));
  await cluster.settle();
  cluster.nodes[0]?.cutPower();
  await client.delete(pods, at("a"));
  await cluster.settle();
  const left = await client.get(pods, at("a"));
  expect([left.status?.phase, left.metadata.deletionGracePeriodSeconds]).toEqual(["Running", 30]);
});
