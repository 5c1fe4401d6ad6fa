import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { expect, onTestFinished, test } from "vitest";
import { startDevicePlugin } from "./device-plugin.ts";
import { startDevicePlugins } from "./device-plugins.ts";
import { slotDevices } from "./slot-devices.ts";

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

const idle = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done";

test("a device plug-in adds its device to the node, and a Pod that requests it gets it with its own user as owner", async () => {
  const resource = "virtkit.io/test-tun";
  const source = slotDevices({ name: "tun", path: "/dev/net/tun", slots: 1 });
  await using namespace = await createNamespace(cluster);
  {
    const directory = await pluginDirectory();
    await using plugin = startDevicePlugin({ directory, resource, source });
    await expect.poll(() => allocatable(resource)).toBe("1");
    const main = {
      ...{ name: "main", image: testImages.launcher, imagePullPolicy: "Never" },
      command: ["sh", "-c", idle],
      resources: { limits: { [resource]: "1" } },
    };
    const securityContext = { runAsUser: 107, runAsGroup: 107 };
    await namespace.createPod("first", { containers: [main], securityContext });
    const { spec } = await namespace.untilReady("first");
    expect(spec.nodeName).toBe(node);
    expect(await namespace.exec("first", "stat", "-c", "%u %F", "/dev/net/tun")).toBe(
      "107 character special file\n",
    );
    expect(plugin.allocated).toEqual(["tun0"]);
    await namespace.createPod("second", { containers: [main], securityContext });
    await namespace.untilPod("second", ({ status }) =>
      Boolean(status.conditions?.some(({ reason }) => reason === "Unschedulable")),
    );
    await namespace.deletePod("first");
    await namespace.untilReady("second");
  }
  await expect.poll(() => allocatable(resource)).toBe("0");
});

test("a node's plug-ins withdraw a device that disappears, offer it when it is back, and survive a kubelet restart", async () => {
  // Stands for the node's /dev: what is there is offered.
  const root = mkdtempSync("/tmp/plugins-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "dev/net"), { recursive: true });
  const tun = join(root, "dev/net/tun");
  writeFileSync(tun, "");
  const config = clusterConfig();
  const { devices } = config.names;
  const changes: boolean[] = [];
  await using plugins = startDevicePlugins({
    ...{ config, root, slots: 3, directory: await pluginDirectory() },
    onReady: (ready) => changes.push(ready),
  });
  await expect.poll(() => plugins.ready).toBe(true);
  expect(plugins.resources).toEqual([devices.kvm, devices.tun, devices.vhostNet, devices.sev]);
  await expect.poll(() => allocatable(devices.tun)).toBe("3");
  await expect.poll(() => allocatable(devices.kvm)).toBe("0");
  rmSync(tun);
  await expect.poll(() => allocatable(devices.tun)).toBe("0");
  writeFileSync(tun, "");
  await expect.poll(() => allocatable(devices.tun)).toBe("3");
  await cluster.stopProgram(node, "kubelet");
  await cluster.startProgram(node, "kubelet");
  await expect.poll(() => changes).toEqual([true, false, true]);
  await expect.poll(() => allocatable(devices.tun)).toBe("3");
});
