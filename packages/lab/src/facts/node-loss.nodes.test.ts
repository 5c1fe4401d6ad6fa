import { afterEach, expect, test } from "vitest";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { createNamespace } from "../cluster/cluster-namespace.ts";
import { idle, shell } from "../testing/shell-container.ts";

const cluster = attachCluster();

interface NodeStatus {
  readonly spec: { readonly taints?: readonly { readonly key: string; readonly effect: string }[] };
  readonly status: {
    readonly nodeInfo: { readonly bootID: string };
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

async function node(name: string): Promise<NodeStatus> {
  return (await cluster.request(`/api/v1/nodes/${name}`)).body as NodeStatus;
}

async function readiness(name: string): Promise<string | undefined> {
  const { conditions } = (await node(name)).status;
  return conditions.find(({ type }) => type === "Ready")?.status;
}

afterEach(async () => {
  await cluster.healNode("node-2").catch(() => undefined);
  await cluster.startNode("node-2");
  await expect.poll(() => readiness("node-2")).toBe("True");
});

test("a node without power is missed in seconds; its Pods still say Running, and return as other containers", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("there", { nodeName: "node-2", containers: [shell(idle)] });
  const before = await namespace.untilReady("there");
  const { bootID } = (await node("node-2")).status.nodeInfo;
  await cluster.killNode("node-2");
  await expect.poll(() => readiness("node-2")).toBe("Unknown");
  await expect
    .poll(async () => (await node("node-2")).spec.taints)
    .toContainEqual(
      expect.objectContaining({ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }),
    );
  // The container is dead, and its status says the opposite.
  const lost = await namespace.pod("there");
  expect(lost?.status.phase).toBe("Running");
  expect(lost?.status.containerStatuses?.[0]).toMatchObject({
    containerID: before.status.containerStatuses?.[0]?.containerID,
    state: { running: {} },
  });
  await cluster.startNode("node-2");
  expect((await node("node-2")).status.nodeInfo.bootID).not.toBe(bootID);
  const back = await namespace.untilPod(
    "there",
    ({ status }) =>
      status.containerStatuses?.[0]?.restartCount === 1 && status.containerStatuses[0].ready,
  );
  expect(back.metadata.uid).toBe(before.metadata.uid);
  // Nobody knows how it ended.
  expect(back.status.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({
    exitCode: 255,
    reason: "Unknown",
  });
  expect(back.status.containerStatuses?.[0]?.containerID).not.toBe(
    before.status.containerStatuses?.[0]?.containerID,
  );
});

test("the API server loses a node that is cut off, but its containers keep running", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("alone", { nodeName: "node-2", containers: [shell(idle)] });
  const before = await namespace.untilReady("alone");
  await cluster.cutNode("node-2", "api");
  await expect.poll(() => readiness("node-2")).toBe("Unknown");
  // A forced deletion removes the object, although nobody has ended the container.
  await namespace.deletePod("alone", 0);
  await namespace.untilGone("alone");
  const id = before.status.containerStatuses?.[0]?.containerID?.replace("containerd://", "") ?? "";
  const running = async (): Promise<string> =>
    await cluster.runOnNode("node-2", "ctr", ["-n", "k8s.io", "tasks", "list"]);
  expect(await running()).toMatch(new RegExp(`${id}\\s+\\d+\\s+RUNNING`));
  await cluster.healNode("node-2");
  await expect.poll(() => readiness("node-2")).toBe("True");
  await expect.poll(running).not.toContain(id);
});

test("nodes that are cut off from each other are both ready, but their Pods do not reach each other", async () => {
  await using namespace = await createNamespace(cluster);
  const server = "require('net').createServer((s) => s.end('hello')).listen(7000)";
  const serve = shell("", { command: ["node", "-e", server] });
  await namespace.createPod("server", { nodeName: "node-1", containers: [serve] });
  await namespace.createPod("client", { nodeName: "node-2", containers: [shell(idle)] });
  const { status } = await namespace.untilReady("server");
  await namespace.untilReady("client");
  const call = `const s = require('net').connect({ host: '${status.podIP}', port: 7000, timeout: 1500 });
    s.on('data', (d) => { console.log(String(d)); process.exit(); });
    s.on('timeout', () => { console.log('silence'); process.exit(); });
    s.on('error', (e) => { console.log(e.code); process.exit(); });`;
  const ask = async () => (await namespace.exec("client", "node", "-e", call)).trim();
  await expect.poll(ask).toBe("hello");
  await cluster.cutNode("node-2", "peers");
  expect(await ask()).toBe("silence");
  expect(await Promise.all([readiness("node-1"), readiness("node-2")])).toEqual(["True", "True"]);
  await cluster.healNode("node-2");
  await expect.poll(ask).toBe("hello");
});
