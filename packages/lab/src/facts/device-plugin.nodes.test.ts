import { expect, test } from "vitest";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { createNamespace } from "../cluster/cluster-namespace.ts";
import { startDevicePlugin } from "../device-plugin/device-plugin.ts";
import { idle, shell } from "../testing/shell-container.ts";

const cluster = attachCluster();
const node = "node-1";

async function allocatable(resource: string): Promise<string | undefined> {
  const { body } = await cluster.request(`/api/v1/nodes/${node}`);
  return (body as { status: { allocatable: Record<string, string> } }).status.allocatable[resource];
}

/** By way of the node's own root: the path from here would be too long for a socket. */
async function pluginDirectory(): Promise<string> {
  return `/proc/${await cluster.nodePid(node)}/root/var/lib/kubelet/device-plugins`;
}

test("a device plug-in makes its node have the device, and a Pod that asks for it gets it as its own user's", async () => {
  const resource = "virtkit.io/test-tun";
  const device = { resource, count: 1, paths: ["/dev/net/tun"] };
  await using namespace = await createNamespace(cluster);
  {
    await using plugin = await startDevicePlugin(await pluginDirectory(), device);
    await expect.poll(() => allocatable(resource)).toBe("1");
    const main = shell(idle, { resources: { limits: { [resource]: "1" } } });
    const securityContext = { runAsUser: 107, runAsGroup: 107 };
    await namespace.createPod("first", { containers: [main], securityContext });
    const { spec } = await namespace.untilReady("first");
    expect(spec.nodeName).toBe(node);
    expect(await namespace.exec("first", "stat", "-c", "%u %F", "/dev/net/tun")).toBe(
      "107 character special file\n",
    );
    expect(plugin.allocated).toEqual(["0"]);
    await namespace.createPod("second", { containers: [main], securityContext });
    await namespace.untilPod("second", ({ status }) =>
      Boolean(status.conditions?.some(({ reason }) => reason === "Unschedulable")),
    );
    await namespace.deletePod("first");
    await namespace.untilReady("second");
  }
  await expect.poll(() => allocatable(resource)).toBe("0");
});

test("a kubelet that starts again forgets the plug-in, which then makes itself known again", async () => {
  const resource = "virtkit.io/test-null";
  const device = { resource, count: 3, paths: ["/dev/null"] };
  await using plugin = await startDevicePlugin(await pluginDirectory(), device);
  await expect.poll(() => allocatable(resource)).toBe("3");
  await cluster.stopProgram(node, "kubelet");
  await cluster.startProgram(node, "kubelet");
  await expect.poll(() => plugin.registrations).toBeGreaterThan(1);
  await expect.poll(() => allocatable(resource)).toBe("3");
});
