import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { expect, test } from "vitest";
import { recordedCalls } from "../testing/recorded-calls.ts";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { growDisks } from "./grow-disks.ts";
import { localPaths } from "./launcher-files.ts";

const dom = { name: "ns_vm", uuid: "u", id: 1 };
const mebibyte = 1n << 20n;
const imagePath = "/var/run/kubevirt-private/vmi-disks/data/disk.img";

const vmi = {
  spec: {},
  status: { volumeStatus: [{ name: "data", target: "", persistentVolumeClaimInfo: {} }] },
} as unknown as VirtualMachineInstance;

const domain = (source: string, extra = "", alias = "ua-data") =>
  parseDomain(`<domain type='kvm'><name>n</name><devices><disk type='file' device='disk'>
    <source ${source}/><target dev='vda'/><alias name='${alias}'/>${extra}</disk></devices></domain>`);

async function resized(
  running: ReturnType<typeof domain>,
  capacity: bigint,
  physical: bigint = capacity,
): Promise<unknown[]> {
  const { path, fill } = await temporaryDirectory();
  await fill({ "vmi-disks/data/disk.img": "x" });
  const info = { allocation: 0n, capacity, physical };
  const { libvirt, calls } = recordedCalls({ domainGetBlockInfo: () => info });
  const own = names({ directories: { private: path } });
  await growDisks({ libvirt, localPath: localPaths(own, {}) }, dom, vmi, running, {});
  return calls
    .filter(([name]) => name === "domainBlockResize")
    .map(([, { disk, size, flags }]) => [disk, size, flags]);
}

const grown = "<capacity>10485760</capacity><filesystemOverhead>0.1</filesystemOverhead>";

test("grows an image to the claim's size, minus the file system's overhead, in whole MiB", async () => {
  const running = domain(`file='${imagePath}'`, grown);
  expect(await resized(running, 4n * mebibyte)).toEqual([[imagePath, 9n * mebibyte, ["bytes"]]]);
  expect(await resized(running, 9n * mebibyte)).toEqual([]);
  expect(await resized(running, 0n)).toEqual([]);
});

test("grows a block device to its full size", async () => {
  const running = domain("dev='/dev/data'");
  expect(await resized(running, 1n, 2n)).toEqual([["/dev/data", 0n, ["bytes", "capacity"]]]);
  expect(await resized(running, 2n, 2n)).toEqual([]);
});

test.each([
  ["no claim", domain(`file='${imagePath}'`, grown, "ua-other")],
  ["no size", domain(`file='${imagePath}'`)],
  [
    "an invalid overhead",
    domain(
      `file='${imagePath}'`,
      "<capacity>10485760</capacity><filesystemOverhead>x</filesystemOverhead>",
    ),
  ],
])("leaves a disk with %s alone", async (_, running) => {
  expect(await resized(running, mebibyte)).toEqual([]);
});

test("lists a disk that libvirt cannot grow, which holds up nothing", async () => {
  const refused = () => ({ error: [38, "no space"] as const });
  const { libvirt } = recordedCalls({ domainGetBlockInfo: refused });
  const running = domain("dev='/dev/data'");
  expect(
    await growDisks({ libvirt, localPath: (path) => path }, dom, vmi, running, {}),
  ).toMatchObject([
    {
      effect: "retry",
      summary: 'grow the disk "data"',
      reason: expect.stringContaining("no space"),
    },
  ]);
});
