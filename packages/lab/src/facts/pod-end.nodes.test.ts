import { expect, test } from "vitest";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { createNamespace, hasCondition } from "../cluster/cluster-namespace.ts";
import { idle, shell } from "../testing/shell-container.ts";

const cluster = attachCluster();

test("a Pod with a readiness gate is ready only once its condition is set", async () => {
  await using namespace = await createNamespace(cluster);
  const conditionType = "virtkit.io/unpaused";
  await namespace.createPod("gated", {
    containers: [shell(idle)],
    readinessGates: [{ conditionType }],
  });
  const waiting = await namespace.untilPod("gated", (pod) => hasCondition(pod, "ContainersReady"));
  expect(hasCondition(waiting, "Ready")).toBe(false);
  const set = async (status: string): Promise<void> => {
    const { status: code } = await cluster.request(
      `/api/v1/namespaces/${namespace.name}/pods/gated/status`,
      {
        method: "PATCH",
        contentType: "application/strategic-merge-patch+json",
        body: { status: { conditions: [{ type: conditionType, status }] } },
      },
    );
    expect(code).toBe(200);
  };
  await set("True");
  await namespace.untilReady("gated");
  await set("False");
  const paused = await namespace.untilPod("gated", (pod) => !hasCondition(pod, "Ready"));
  expect(paused.status.phase).toBe("Running");
});

test("the grace period is kept: SIGTERM at once, SIGKILL at its end, and not before", async () => {
  await using namespace = await createNamespace(cluster);
  // Says when it was asked to end, and does not.
  const stubborn =
    "trap 'date +%s > /dev/termination-log' TERM; while :; do sleep 1 & wait $!; done";
  await namespace.createPod(
    "stubborn",
    { containers: [shell(stubborn)], terminationGracePeriodSeconds: 4 },
    // Keeps the object, so that its last status can be read.
    { finalizers: ["virtkit.io/test"] },
  );
  await namespace.untilReady("stubborn");
  const asked = Date.now();
  await namespace.deletePod("stubborn");
  const { status } = await namespace.untilPod(
    "stubborn",
    (pod) => pod.status.containerStatuses?.[0]?.state.terminated !== undefined,
  );
  const ended = status.containerStatuses?.[0]?.state.terminated;
  expect(ended).toMatchObject({ exitCode: 137, reason: "Error" });
  const told = Number(ended?.message);
  expect(told).toBeGreaterThanOrEqual(Math.floor(asked / 1000));
  // Both are whole seconds, cut off.
  expect(Date.parse(ended?.finishedAt ?? "") / 1000 - told).toBeGreaterThanOrEqual(3);
  await removeFinalizers(namespace.name, "stubborn");
  await namespace.untilGone("stubborn");
});

test("a Pod that ends within its grace period is gone before it is over", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("obedient", {
    containers: [shell(idle)],
    terminationGracePeriodSeconds: 600,
  });
  await namespace.untilReady("obedient");
  await namespace.deletePod("obedient");
  await namespace.untilGone("obedient");
});

test("an eviction is refused with 429 while a budget forbids it, and granted without one", async () => {
  await using namespace = await createNamespace(cluster);
  const labels = { app: "kept" };
  await namespace.createPod("kept", { containers: [shell(idle)] }, { labels });
  await namespace.untilReady("kept");
  const budget = `/apis/policy/v1/namespaces/${namespace.name}/poddisruptionbudgets`;
  const spec = { minAvailable: 1, selector: { matchLabels: labels } };
  await cluster.request(budget, { method: "POST", body: { metadata: { name: "kept" }, spec } });
  const evict = async () =>
    await cluster.request(`/api/v1/namespaces/${namespace.name}/pods/kept/eviction`, {
      method: "POST",
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "kept" } },
    });
  await expect
    .poll(async () => JSON.stringify(await evict()))
    .toContain('"reason":"DisruptionBudget"');
  const refused = await evict();
  expect(refused.status).toBe(429);
  expect(await namespace.pod("kept")).toMatchObject({ status: { phase: "Running" } });
  await cluster.request(`${budget}/kept`, { method: "DELETE" });
  await expect.poll(async () => (await evict()).status).toBe(201);
  await namespace.untilGone("kept");
});

test("a drain evicts only the Pods of its node, which takes none until it is uncordoned", async () => {
  await using namespace = await createNamespace(cluster);
  const on = (nodeName: string): object => ({ nodeName, containers: [shell(idle)] });
  await namespace.createPod("leaves", on("node-1"));
  await namespace.createPod("stays", on("node-2"));
  await Promise.all([namespace.untilReady("leaves"), namespace.untilReady("stays")]);
  try {
    // Pods of other tests are there, too, and some take their time to end.
    const all = ["--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=120s"];
    await cluster.kubectl(["drain", "node-1", ...all], { timeout: 150_000 });
    expect(await namespace.pod("leaves")).toBeUndefined();
    expect(await namespace.pod("stays")).toMatchObject({ status: { phase: "Running" } });
    const nodeSelector = { "kubernetes.io/hostname": "node-1" };
    await namespace.createPod("waits", { nodeSelector, containers: [shell(idle)] });
    await namespace.untilPod("waits", ({ status }) =>
      Boolean(status.conditions?.some(({ reason }) => reason === "Unschedulable")),
    );
  } finally {
    await cluster.kubectl(["uncordon", "node-1"]);
  }
  await namespace.untilReady("waits");
});

async function removeFinalizers(namespace: string, name: string): Promise<void> {
  await cluster.request(`/api/v1/namespaces/${namespace}/pods/${name}`, {
    method: "PATCH",
    contentType: "application/merge-patch+json",
    body: { metadata: { finalizers: null } },
  });
}
