import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ManualClock } from "@virtkit/api/clock";
import { clusterConfig } from "@virtkit/api/config";
import { expect, onTestFinished, test } from "vitest";
import { startFakeKubelet } from "../testing/fake-kubelet.ts";
import { startDevicePlugin } from "./device-plugin.ts";
import { startDevicePlugins } from "./device-plugins.ts";
import { slotDevices } from "./slot-devices.ts";

/** A directory for the kubelet, and one that stands for the node's root. */
function places(): { directory: string; root: string } {
  const directory = mkdtempSync("/tmp/kubelet-");
  const root = join(directory, "root");
  mkdirSync(join(root, "dev"), { recursive: true });
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, root };
}

test("devices are offered, withdrawn when their device node disappears, and then rejected", async () => {
  const { directory, root } = places();
  const device = join(root, "dev/x");
  writeFileSync(device, "");
  await using kubelet = await startFakeKubelet(directory);
  const source = slotDevices({ name: "x", path: "/dev/x", slots: 2, root });
  const resource = "example.com/x";
  {
    await using plugin = startDevicePlugin({ directory, resource, source });
    await plugin.whenReady();
    await expect.poll(() => kubelet.healthy.get(resource)).toEqual(["x0", "x1"]);
    const answer = await kubelet.allocate(resource, ["x1"]);
    expect(String(answer)).toContain("/dev/x");
    expect(plugin.allocated).toEqual(["x1"]);
    rmSync(device);
    await expect.poll(() => kubelet.healthy.get(resource)).toEqual([]);
    expect(await kubelet.allocate(resource, ["x0"])).toBe("9");
    writeFileSync(device, "");
    await expect.poll(() => kubelet.healthy.get(resource)).toEqual(["x0", "x1"]);
  }
  // It goes with a last word: the kubelet has none of them at once.
  await expect.poll(() => kubelet.healthy.get(resource)).toEqual([]);
  expect(readdirSync(directory)).not.toContain("example.com-x.sock");
});

test("devices that have not changed are not encoded again at each look", async () => {
  const { directory, root } = places();
  await using kubelet = await startFakeKubelet(directory);
  const clock = new ManualClock();
  const { list, ...rest } = slotDevices({ name: "x", path: "/dev/x", slots: 2, root });
  let reads = 0;
  const counted = new WeakSet<object>();
  const source = {
    ...rest,
    list: () => {
      const devices = list();
      for (const device of counted.has(devices) ? [] : devices) {
        const { id } = device;
        const get = (): string => {
          reads++;
          return id;
        };
        Object.defineProperty(device, "id", { get });
      }
      counted.add(devices);
      return devices;
    },
  };
  await using _ = startDevicePlugin({ directory, resource: "example.com/x", source, clock });
  await expect.poll(() => kubelet.healthy.get("example.com/x")).toEqual([]);
  const before = reads;
  expect(before).toBeGreaterThan(0);
  await clock.pass(60_000);
  expect(reads).toBe(before);
  writeFileSync(join(root, "dev/x"), "");
  await expect.poll(() => kubelet.healthy.get("example.com/x")).toEqual(["x0", "x1"]);
});

test("a plug-in waits for a kubelet, and registers with each one that starts", async () => {
  const { directory, root } = places();
  const source = slotDevices({ name: "x", path: "/dev/x", slots: 1, root });
  await using plugin = startDevicePlugin({ directory, resource: "example.com/x", source });
  expect(plugin.ready).toBe(false);
  {
    await using _first = await startFakeKubelet(directory);
    await expect.poll(() => plugin.registrations).toBe(1);
    expect(plugin.ready).toBe(true);
  }
  await using _second = await startFakeKubelet(directory);
  await expect.poll(() => plugin.registrations).toBeGreaterThan(1);
  await expect.poll(() => plugin.ready).toBe(true);
  // A kubelet that starts empties the directory of all sockets.
  const before = plugin.registrations;
  rmSync(join(directory, "example.com-x.sock"));
  await expect.poll(() => plugin.registrations).toBeGreaterThan(before);
  expect(readdirSync(directory)).toContain("example.com-x.sock");
});

test("a node is ready when the kubelet knows all its plug-ins, and follows the configuration", async () => {
  const { directory, root } = places();
  const changes: boolean[] = [];
  const find = () => ({
    ...{ mediated: [], usb: [] },
    pci: [
      {
        ...{ address: "0000:01:00.0", id: "10de:1eb8", driver: "vfio-pci", iommuGroup: "7" },
        characterDevices: [],
      },
    ],
  });
  const config = clusterConfig();
  await using plugins = startDevicePlugins({
    ...{ config, root, slots: 1, directory, find },
    onReady: (ready) => changes.push(ready),
  });
  expect(plugins.ready).toBe(false);
  await using kubelet = await startFakeKubelet(directory);
  await expect.poll(() => plugins.ready).toBe(true);
  const { kvm, tun, vhostNet, sev } = config.names.devices;
  expect(plugins.resources).toEqual([kvm, tun, vhostNet, sev]);
  const permittedHostDevices = {
    pciHostDevices: [{ pciVendorSelector: "10DE:1EB8", resourceName: "nvidia.com/T4" }],
  };
  await plugins.update(clusterConfig({ permittedHostDevices }));
  await expect.poll(() => kubelet.healthy.has("nvidia.com/T4")).toBe(true);
  mkdirSync(join(root, "dev/vfio"));
  for (const name of ["vfio", "7"]) writeFileSync(join(root, "dev/vfio", name), "");
  await plugins.update(config);
  expect(plugins.resources).toEqual([kvm, tun, vhostNet, sev]);
  expect(changes[0]).toBe(true);
});
