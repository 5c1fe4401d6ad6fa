import { expect, test } from "vitest";
import type { ApiAnswer } from "../cluster/api-request.ts";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { type ClusterPod, createNamespace } from "../cluster/cluster-namespace.ts";
import { idle, shell } from "../testing/shell-container.ts";

const cluster = attachCluster();

test("resizes a running Pod in place: its cgroup has the new limits, and nothing restarts", async () => {
  await using namespace = await createNamespace(cluster);
  const resources = (cpu: string, memory: string) => ({
    requests: { cpu, memory },
    limits: { cpu, memory },
  });
  const main = shell(idle, { resources: resources("100m", "64Mi") });
  await namespace.createPod("grows", { containers: [main] });
  const before = await namespace.untilReady("grows");
  const wanted = resources("200m", "128Mi");
  const { status } = await cluster.request(
    `/api/v1/namespaces/${namespace.name}/pods/grows/resize`,
    {
      method: "PATCH",
      contentType: "application/strategic-merge-patch+json",
      body: { spec: { containers: [{ name: "main", resources: wanted }] } },
    },
  );
  expect(status).toBe(200);
  const after = await namespace.untilPod("grows", (pod) =>
    JSON.stringify(pod.status.containerStatuses?.[0]?.resources).includes("128Mi"),
  );
  expect(after.status.containerStatuses?.[0]).toMatchObject({
    restartCount: 0,
    containerID: before.status.containerStatuses?.[0]?.containerID,
    resources: wanted,
  });
  const limits =
    "cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max";
  expect(await namespace.exec("grows", "sh", "-c", limits)).toBe(`${128 * 1024 * 1024}\n`);
});

test("rejects a resize beyond the node's capacity at once", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("wants", { containers: [asking("100m")] });
  await namespace.untilReady("wants");
  const { status, body } = await resize(namespace.name, "wants", "1000");
  expect(status).toBe(403);
  expect(body).toMatchObject({ details: { causes: [{ reason: "NodeCapacity" }] } });
});

test("defers a resize beyond the node's free resources, says so, and the Pod keeps running", async () => {
  await using namespace = await createNamespace(cluster);
  const cpus = Number((await cluster.runOnNode("node-2", "nproc")).trim());
  const most = `${cpus * 1000 - 400}m`;
  const spec = { nodeName: "node-2", terminationGracePeriodSeconds: 1 };
  await namespace.createPod("has", { ...spec, containers: [asking(most)] });
  await namespace.createPod("wants", { ...spec, containers: [asking("100m")] });
  await Promise.all([namespace.untilReady("has"), namespace.untilReady("wants")]);
  expect((await resize(namespace.name, "wants", most)).status).toBe(200);
  const pending = ({ status }: ClusterPod) =>
    status.conditions?.find(({ type }) => type === "PodResizePending");
  const waits = await namespace.untilPod("wants", (pod) => pending(pod) !== undefined);
  expect(pending(waits)).toMatchObject({ status: "True", reason: "Deferred" });
  expect(waits.status.phase).toBe("Running");
  await namespace.deletePod("has");
  const resized = await namespace.untilPod("wants", ({ status }) =>
    JSON.stringify(status.containerStatuses?.[0]?.resources).includes(most),
  );
  expect(resized.status.containerStatuses?.[0]?.restartCount).toBe(0);
});

function asking(cpu: string): object {
  return shell(idle, { resources: { requests: { cpu } } });
}

async function resize(namespace: string, pod: string, cpu: string): Promise<ApiAnswer> {
  return await cluster.request(`/api/v1/namespaces/${namespace}/pods/${pod}/resize`, {
    method: "PATCH",
    contentType: "application/strategic-merge-patch+json",
    body: { spec: { containers: [{ name: "main", resources: { requests: { cpu } } }] } },
  });
}
