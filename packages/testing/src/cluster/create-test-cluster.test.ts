import { expect, test } from "vitest";
import { nodes, pods } from "./core-resources.ts";
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

test("an unschedulable Pod says so, and is scheduled once a node fits", async () => {
  await using cluster = await createTestCluster();
  const client = cluster.client();
  await client.create(pods, pod("a", { nodeSelector: { disk: "fast" } }));
  await cluster.settle();
  const waiting = await client.get(pods, at("a"));
  expect(waiting.status?.conditions).toMatchObject([
    { type: "PodScheduled", status: "False", reason: "Unschedulable" },
  ]);
});

test("the same seed gives the same writes, and another seed other names", async () => {
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

test("a node that loses power leaves its Pods in their last reported state", async () => {
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

test("a lost node is tainted, its Pods still say Running, and it comes back with another boot ID", async () => {
  await using cluster = await createTestCluster({ nodes: 1 });
  const client = cluster.client();
  await client.create(pods, pod("a"));
  await cluster.settle();
  const [host] = cluster.nodes;
  const before = await client.get(nodes, { name: "node-1" });
  host?.cutPower();
  await cluster.settle();
  const lost = await client.get(nodes, { name: "node-1" });
  expect(lost.status?.conditions).toMatchObject([{ type: "Ready", status: "Unknown" }]);
  expect(lost.spec?.taints).toMatchObject([{ effect: "NoSchedule" }, { effect: "NoExecute" }]);
  const left = await client.get(pods, at("a"));
  expect(left.status?.phase).toBe("Running");
  expect(left.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("False");
  const [container] = left.status?.containerStatuses ?? [];
  await host?.start();
  await cluster.settle();
  const back = await client.get(nodes, { name: "node-1" });
  expect([back.spec?.taints ?? [], back.status?.conditions?.[0]?.status]).toEqual([[], "True"]);
  expect(back.status?.nodeInfo?.["bootID"]).not.toBe(before.status?.nodeInfo?.["bootID"]);
  const again = await client.get(pods, at("a"));
  expect(again.status?.containerStatuses?.[0]?.containerID).not.toBe(container?.containerID);
});

test.each([
  ["an image that cannot be pulled", { pullFails: "ErrImagePull" }, "Pending", "ErrImagePull"],
  ["a volume that cannot be mounted", { mountFails: true }, "Pending", "ContainerCreating"],
  ["a container that succeeds", { ends: 1000 }, "Succeeded", undefined],
  ["a container that fails", { ends: 1000, exitCode: 3 }, "Failed", undefined],
] as const)("%s", async (_, script, phase, waiting) => {
  await using cluster = await createTestCluster({ containers: () => script });
  const client = cluster.client();
  await client.create(pods, pod("a", { restartPolicy: "Never" }));
  await cluster.settle();
  const { status } = await client.get(pods, at("a"));
  expect(status?.phase).toBe(phase);
  const { state } = status?.containerStatuses?.[0] ?? {};
  expect(Object(state?.["waiting"]).reason).toBe(waiting);
});

test("a container that keeps crashing is restarted with growing delays", async () => {
  const containers = () => ({ ends: 500, exitCode: 1 });
  await using cluster = await createTestCluster({ containers });
  const client = cluster.client();
  await client.create(pods, pod("a"));
  await cluster.clock.pass(90_000);
  const { status } = await client.get(pods, at("a"));
  expect(status?.phase).toBe("Running");
  const [container] = status?.containerStatuses ?? [];
  expect([container?.restartCount, container?.state]).toMatchObject([
    4,
    { waiting: { reason: "CrashLoopBackOff" } },
  ]);
});
