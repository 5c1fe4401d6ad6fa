import { parseDomain, toXml } from "@virtkit/converter";
import { expect, test } from "vitest";
import { withVolumeSizes } from "./with-volume-sizes.ts";

const disk = (name: string, dev: string): string =>
  `<disk type="file" device="disk"><source file="/${name}.img"/><target dev="${dev}" bus="virtio"/><alias name="ua-${name}"/></disk>`;
const domain = parseDomain(
  `<domain type="kvm"><name>vm</name><memory unit="b">1</memory><os><type>hvm</type></os><devices>${disk("root", "vda")}${disk("data", "vdb")}</devices></domain>`,
);

test("a disk copied to a larger volume keeps the size that the guest knows", () => {
  const xml = toXml(withVolumeSizes(domain, { data: 1_048_576 }));
  const slice = '<slice type="storage" offset="0" size="1048576"';
  expect(xml.split("<slices>")).toHaveLength(2);
  expect(xml.slice(xml.indexOf("/data.img"))).toContain(slice);
});

test("other disks stay as they are", () => {
  expect(withVolumeSizes(domain, {})).toEqual(domain);
});
