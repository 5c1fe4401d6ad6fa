import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("the guest reads its UUID, its serial number and its manufacturer", () => {
  const { sysinfo } = domainWith({
    domain: { firmware: { uuid: "u", serial: "s" }, chassis: { asset: "a" } },
    context: { smBios: { manufacturer: "m", family: "f", product: "p" } },
  });
  expect(sysinfo?.system.entries).toEqual([
    { name: "uuid", value: "u" },
    { name: "serial", value: "s" },
    { name: "manufacturer", value: "m" },
    { name: "family", value: "f" },
    { name: "product", value: "p" },
    { name: "sku", value: "" },
    { name: "version", value: "" },
  ]);
  expect(sysinfo?.chassis.entries).toContainEqual({ name: "asset", value: "a" });
});

test("leaves everything out if nothing is known", () => {
  const { sysinfo } = domainWith();
  expect(sysinfo).toMatchObject({
    type: "smbios",
    system: { entries: [] },
    chassis: { entries: [] },
  });
});
