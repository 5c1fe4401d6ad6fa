import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findHostDevices } from "./host-devices.ts";
import { permittedDevices, planPermittedDevices } from "./permitted-devices.ts";

/** A node's root with some devices in its sysfs. */
function nodeRoot(): string {
  const root = mkdtempSync("/tmp/sysfs-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const file = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const link = (path: string, target: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  };
  const pci = (address: string, driver: string, group: string, numa: string): void => {
    const place = `sys/bus/pci/devices/${address}`;
    file(`${place}/uevent`, "DRIVER=x\nPCI_ID=10DE:1EB8\n");
    file(`${place}/numa_node`, numa);
    link(`${place}/driver`, `../../../bus/pci/drivers/${driver}`);
    link(`${place}/iommu_group`, `../../../kernel/iommu_groups/${group}`);
  };
  pci("0000:01:00.0", "vfio-pci", "7", "1\n");
  pci("0000:02:00.0", "nvidia", "8", "-1\n");
  file("sys/bus/pci/devices/0000:01:00.0/vfio-dev/vfio0/dev", "");
  file("sys/bus/pci/devices/0000:03:00.0/uevent", "garbage");
  const uuid = "53764d0e-85a0-42b4-af5c-2046b460b1dc";
  const parent = "sys/devices/0000:01:00.0";
  file(`${parent}/${uuid}/mdev_type/name`, "GRID T4-1Q\n");
  link(`${parent}/${uuid}/iommu_group`, "../../kernel/iommu_groups/9");
  link(`sys/bus/mdev/devices/${uuid}`, `../../../devices/0000:01:00.0/${uuid}`);
  const usb = (name: string, device: number, product: string): void =>
    file(
      `sys/bus/usb/devices/${name}/uevent`,
      `BUSNUM=001\nDEVNUM=00${device}\nPRODUCT=${product}/100\nDEVNAME=bus/usb/001/00${device}\n`,
    );
  usb("1-1", 2, "46f4/1");
  usb("1-2", 3, "46f4/2");
  usb("1-3", 4, "46f4/1");
  usb("usb1", 1, "46f4/1");
  usb("1-1:1.0", 2, "46f4/1");
  return root;
}

const usbSet = [
  { vendor: "46f4", product: "0001" },
  { vendor: "46f4", product: "0002" },
];

test("lists the permitted devices of a node by resource", () => {
  const root = nodeRoot();
  const planned = planPermittedDevices(
    {
      pciHostDevices: [
        { pciVendorSelector: "10de:1EB8", resourceName: "nvidia.com/TU104-T4" },
        { pciVendorSelector: "10de:1eb8", resourceName: "x/y", externalResourceProvider: true },
      ],
      mediatedDevices: [{ mdevNameSelector: "GRID T4-1Q", resourceName: "nvidia.com/GRID_T4-1Q" }],
      usb: [
        { resourceName: "kubevirt.io/sticks", selectors: usbSet },
        { resourceName: "kubevirt.io/more", selectors: usbSet },
        { resourceName: "kubevirt.io/none" },
      ],
    },
    findHostDevices(root),
  );
  expect(planned).toEqual([
    {
      resource: "nvidia.com/TU104-T4",
      variable: "PCI_RESOURCE_NVIDIA_COM_TU104_T4",
      devices: [
        {
          id: "7",
          value: "0000:01:00.0",
          paths: ["/dev/vfio/vfio", "/dev/vfio/7", "/dev/vfio/devices/vfio0"],
          numaNode: 1,
        },
      ],
    },
    {
      resource: "nvidia.com/GRID_T4-1Q",
      variable: "MDEV_PCI_RESOURCE_NVIDIA_COM_GRID_T4_1Q",
      devices: [
        {
          id: "9",
          value: "53764d0e-85a0-42b4-af5c-2046b460b1dc",
          paths: ["/dev/vfio/vfio", "/dev/vfio/9"],
          numaNode: 1,
        },
      ],
    },
    {
      // All of a set or none: the third stick finds no second one.
      resource: "kubevirt.io/sticks",
      variable: "USB_RESOURCE_KUBEVIRT_IO_STICKS",
      devices: [
        {
          id: "kubevirt.io-sticks-1.2-1.3",
          value: "1:2,1:3",
          paths: ["/dev/bus/usb/001/002", "/dev/bus/usb/001/003"],
        },
      ],
    },
  ]);
});

test("a device is healthy while all its device nodes exist, and is handed out only then", () => {
  const root = nodeRoot();
  const device = { id: "7", value: "0000:01:00.0", paths: ["/dev/vfio/vfio", "/dev/vfio/7"] };
  const planned = { resource: "a/b", variable: "PCI_RESOURCE_A_B", devices: [device] };
  const source = permittedDevices(planned, root);
  expect(source.list()).toEqual([{ id: "7", healthy: false }]);
  expect(() => source.allocate(["7"])).toThrow(/no longer exists/);
  mkdirSync(join(root, "dev/vfio"), { recursive: true });
  for (const name of ["vfio", "7"]) writeFileSync(join(root, "dev/vfio", name), "");
  expect(source.list()).toEqual([{ id: "7", healthy: true }]);
  expect(source.allocate(["7"])).toEqual({
    nodes: device.paths.map((path) => ({ path, permissions: "mrw" })),
    env: { PCI_RESOURCE_A_B: "0000:01:00.0" },
  });
  expect(() => source.allocate(["8"])).toThrow(/no longer exists/);
});
