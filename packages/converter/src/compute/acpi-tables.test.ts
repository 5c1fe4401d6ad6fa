import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

const volumes = [
  { name: "lic", secret: { secretName: "s" } },
  { name: "map", configMap: { name: "m" } },
];
const acpi = (tables: object): object => ({
  domain: { firmware: { acpi: tables } },
  spec: { volumes },
});

describe("ACPI tables", () => {
  test("are files from Secrets", () => {
    const { os } = domainWith(acpi({ slicNameRef: "lic", msdmNameRef: "lic" }));
    expect(os.acpi?.tables).toEqual([
      { type: "slic", path: "/var/run/kubevirt-private/secret/lic/slic.bin" },
      { type: "msdm", path: "/var/run/kubevirt-private/secret/lic/msdm.bin" },
    ]);
  });

  test.each([
    [{}, "spec.domain.firmware.acpi"],
    [{ slicNameRef: "none" }, "spec.domain.firmware.acpi.slicNameRef"],
    [{ msdmNameRef: "map" }, "spec.domain.firmware.acpi.msdmNameRef"],
  ])("fail with %j", (tables, path) => {
    expect(errorPath(acpi(tables))).toBe(path);
  });
});
