import { expect, test } from "vitest";
import { createNamespace } from "../cluster/cluster-namespace.ts";
import { idle, shell, testCluster } from "./test-cluster.ts";

const cluster = testCluster();

test("a running Pod is resized in place: its cgroup has the new limits, and nothing is restarted", async () => {
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

test("a Pod that asks for more than its node has is not resized, and says why", async () => {
  await using namespace = await createNamespace(cluster);
  const main = shell(idle, { resources: { requests: { cpu: "100m" } } });
  await namespace.createPod("wants", { containers: [main] });
  await namespace.untilReady("wants");
  const answer = await cluster.request(`/api/v1/namespaces/${namespace.name}/pods/wants/resize`, {
    method: "PATCH",
    contentType: "application/strategic-merge-patch+json",
    body: { spec: { containers: [{ name: "main", resources: { requests: { cpu: "1000" } } }] } },
  });
  console.log(JSON.stringify(answer));
  const { status } = await namespace.untilPod("wants", (pod) =>
    Boolean(pod.status.conditions?.some(({ type }) => type === "PodResizePending")),
  );
  const pending = status.conditions?.find(({ type }) => type === "PodResizePending");
  expect(pending).toMatchObject({ status: "True", reason: "Infeasible" });
});
