import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { Sealed, sealText } from "../sealed.ts";
import { cloudInitImage, cloudInitMedia } from "./cloud-init-media.ts";

const vmi: VirtualMachineInstance = {
  metadata: { name: "vm1", namespace: "ns" },
  spec: { domain: { devices: {}, firmware: { uuid: "u-1" } } },
};
const empty = sealText("");
const userData = sealText("#cloud-config\n");

function written(media: ReturnType<typeof cloudInitMedia>): Record<string, string> {
  return Object.fromEntries(
    media.files.map(({ path, content }) => [path, new TextDecoder().decode(content.reveal())]),
  );
}

test("content without metadata gives the guest only its identity", () => {
  const content = { userData, networkData: empty };
  const noCloud = cloudInitMedia(vmi, { ...content, source: "noCloud" }, { instanceType: "u1" });
  expect(noCloud.label).toBe("cidata");
  expect(written(noCloud)).toEqual({
    "meta-data": '{"instance-type":"u1","instance-id":"u-1"}',
    "user-data": "#cloud-config\n",
  });
  const drive = cloudInitMedia(vmi, { ...content, source: "configDrive" });
  expect(drive.label).toBe("config-2");
  expect(written(drive)["openstack/latest/meta_data.json"]).toBe(
    '{"instance_id":"vm1.ns","uuid":"u-1"}',
  );
});

test("writes network data to its own file, and user data even if it is empty", () => {
  const networkData = sealText("version: 2\n");
  expect(
    written(cloudInitMedia(vmi, { source: "noCloud", userData: empty, networkData })),
  ).toMatchObject({
    "network-config": "version: 2\n",
    "user-data": "",
  });
});

test("numbers keys, sorts them as strings, and escapes them like Go", () => {
  const publicKeys = Array.from({ length: 11 }, (_, at) => new Sealed(`<${at}&>\u2028`));
  const metadata = { instanceId: "i", instanceType: "", hostname: "h", uuid: "", publicKeys };
  const text = written(
    cloudInitMedia(vmi, { source: "noCloud", userData, networkData: empty, metadata }),
  );
  expect(text["meta-data"]).toMatch(
    /^\{"instance-id":"i","local-hostname":"h","public-keys":\{"0":"\\u003c0\\u0026\\u003e\\u2028","1":.*"10":.*"2":/,
  );
});

test("devices are left out, null, empty or a list", () => {
  const content = { source: "configDrive", userData, networkData: empty } as const;
  const metaOf = (devices: Parameters<typeof cloudInitMedia>[2]) =>
    JSON.parse(
      written(cloudInitMedia(vmi, content, devices))["openstack/latest/meta_data.json"] ?? "",
    );
  expect(metaOf({})).not.toHaveProperty("devices");
  expect(metaOf({ devices: null }).devices).toBe(null);
  expect(metaOf({ devices: [] }).devices).toEqual([]);
  const nic = { type: "nic", bus: "pci", address: "0000:01:00.0", tags: ["t"] } as const;
  expect(metaOf({ devices: [{ ...nic, numaNode: 0, alignedCPUs: [], mac: "" }] }).devices).toEqual([
    nic,
  ]);
});

test("rejects missing data and an unknown source", () => {
  expect(() =>
    cloudInitMedia(vmi, { source: "noCloud", userData: empty, networkData: empty }),
  ).toThrow(expect.objectContaining({ code: "DISK_CLOUD_INIT_EMPTY" }));
  expect(() =>
    cloudInitMedia(vmi, { source: "toString" as "noCloud", userData, networkData: empty }),
  ).toThrow(expect.objectContaining({ code: "DISK_VMI_INVALID" }));
});

test("the image is below the namespace and name of the VMI", () => {
  expect(cloudInitImage(vmi, "noCloud")).toBe("ns/vm1/noCloud.iso");
  expect(cloudInitImage(vmi, "configDrive")).toBe("ns/vm1/configdrive.iso");
});

test("rejects a VMI without a domain and names its path", () => {
  const odd = { metadata: { name: "vm" }, spec: {} } as never;
  const content = {
    source: "noCloud",
    userData: sealText("x"),
    networkData: sealText(""),
  } as const;
  expect(() => cloudInitMedia(odd, content)).toThrow(
    expect.objectContaining({ code: "DISK_VMI_INVALID", path: "spec.domain" }),
  );
});
