import { expect, test } from "vitest";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { createNamespace } from "../cluster/cluster-namespace.ts";
import { idle, shell } from "../testing/shell-container.ts";

const cluster = attachCluster();

/** Pids on the node whose cgroup names a Pod or container, with the path of that cgroup. */
async function processesOf(node: string, id: string): Promise<{ pid: string; cgroup: string }[]> {
  // The search itself names what it looks for, but not in its cgroup.
  const script = `for file in /proc/[0-9]*/cgroup; do while read -r line; do case $line in *:memory:*${id}*|0::*${id}*) echo "$file $line"; break;; esac; done < $file; done 2>/dev/null; true`;
  const lines = (await cluster.runOnNode(node, "bash", ["-c", script])).trim().split("\n");
  return lines.filter(Boolean).map((line) => {
    const [file = "", rest = ""] = line.split(" ");
    return { pid: file.split("/")[2] ?? "", cgroup: rest.replace(/^\d+:[^:]*:/, "") };
  });
}

function containerId(id: string | undefined): string {
  return id?.replace("containerd://", "") ?? "";
}

test("finds a container's processes by its ID from the Pod's status, in a cgroup with the Pod's UID", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("found", { containers: [shell(idle)] });
  const { metadata, spec, status } = await namespace.untilReady("found");
  const node = spec.nodeName ?? "";
  const id = containerId(status.containerStatuses?.[0]?.containerID);
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  const ofContainer = await processesOf(node, id);
  expect(ofContainer.length).toBeGreaterThan(0);
  const top = `/${cluster.layout.cgroup}/${node}/kubepods/besteffort/pod${metadata.uid}/${id}`;
  expect(new Set(ofContainer.map(({ cgroup }) => cgroup))).toEqual(new Set([top]));
  // Beside it is the sandbox, which no status names.
  const ofPod = await processesOf(node, `pod${metadata.uid}`);
  expect(ofPod.length).toBeGreaterThan(ofContainer.length);
});

test("a container that ends is replaced by a new ID under the same Pod UID and address", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("again", { containers: [shell(idle)] });
  const before = await namespace.untilReady("again");
  const running = containerId(before.status.containerStatuses?.[0]?.containerID);
  const [first] = await processesOf(before.spec.nodeName ?? "", running);
  await cluster.runOnNode(before.spec.nodeName ?? "", "kill", ["-TERM", first?.pid ?? ""]);
  const after = await namespace.untilPod(
    "again",
    ({ status }) => status.containerStatuses?.[0]?.restartCount === 1,
  );
  await namespace.untilReady("again");
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(after.status.podIP).toBe(before.status.podIP);
  expect(after.status.containerStatuses?.[0]?.containerID).not.toBe(
    before.status.containerStatuses?.[0]?.containerID,
  );
  expect(after.status.containerStatuses?.[0]?.lastState?.terminated?.exitCode).toBe(0);
  const old = containerId(before.status.containerStatuses?.[0]?.containerID);
  expect(await processesOf(before.spec.nodeName ?? "", old)).toEqual([]);
});

test("a Pod whose sandbox has died gets another one under the same UID, with other processes", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("hollow", {
    containers: [shell(idle)],
    terminationGracePeriodSeconds: 1,
  });
  const before = await namespace.untilReady("hollow");
  const { uid } = before.metadata;
  const node = before.spec.nodeName ?? "";
  const ids = (await processesOf(node, `pod${uid}`)).map(({ cgroup }) => cgroup.split("/").pop());
  const main = containerId(before.status.containerStatuses?.[0]?.containerID);
  const sandbox = ids.find((id) => id !== main) ?? "";
  const [pause] = await processesOf(node, sandbox);
  await cluster.runOnNode(node, "kill", ["-KILL", pause?.pid ?? ""]);
  const isOther = ({ status }: typeof before): boolean =>
    (status.containerStatuses?.[0]?.restartCount ?? 0) > 0 &&
    status.containerStatuses?.[0]?.state.running !== undefined;
  const after = await namespace.untilPod("hollow", isOther);
  expect(after.metadata.uid).toBe(uid);
  expect(after.status.containerStatuses?.[0]?.containerID).not.toContain(main);
  expect(await processesOf(node, sandbox)).toEqual([]);
  expect((await processesOf(node, `pod${uid}`)).length).toBeGreaterThan(0);
});

test("a container that nobody knows any more ends as ContainerStatusUnknown", async () => {
  await using namespace = await createNamespace(cluster);
  const spec = { restartPolicy: "Never", nodeName: "node-2", containers: [shell(idle)] };
  await namespace.createPod("unknown", { ...spec, terminationGracePeriodSeconds: 1 });
  const before = await namespace.untilReady("unknown");
  const id = containerId(before.status.containerStatuses?.[0]?.containerID);
  // Nobody looks while the container disappears, with everything that was kept of it.
  await cluster.stopProgram("node-2", "kubelet");
  try {
    const ctr = (...args: string[]) =>
      cluster.runOnNode("node-2", "ctr", ["-n", "k8s.io", ...args]);
    await ctr("tasks", "kill", "--signal", "SIGKILL", id);
    const remove = async (): Promise<string> =>
      await ctr("containers", "delete", id).catch((error: unknown) => String(error));
    // It cannot be removed as long as its end is not noted.
    await expect.poll(remove).toBe("");
    await cluster.stopProgram("node-2", "containerd");
  } finally {
    await cluster.startProgram("node-2", "containerd");
    await cluster.startProgram("node-2", "kubelet");
  }
  const { status } = await namespace.untilPod("unknown", (pod) => pod.status.phase !== "Running");
  expect(status.phase).toBe("Failed");
  // Not in `state`, where the end of a container is otherwise: that says that another one is to come.
  expect(status.containerStatuses?.[0]).toMatchObject({
    state: { waiting: { reason: "ContainerCreating" } },
    lastState: { terminated: { reason: "ContainerStatusUnknown", exitCode: 137 } },
    restartCount: 1,
  });
});
