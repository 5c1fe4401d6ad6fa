import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const type = (name: string, architecture = "amd64"): Change => ({
  architecture,
  domain: { machine: { type: name } },
});
const refused = ["Invalid spec.domain.machine.type"];

test.each<[Change, ClusterOptions, string[]]>([
  [type("q35"), {}, []],
  [type("pc-q35-9.0"), {}, []],
  [type("pc-i440fx-9.0"), {}, refused],
  [type("virt"), {}, refused],
  [type("virt", "arm64"), {}, []],
  [type("s390-ccw-virtio-9.0", "s390x"), {}, []],
  [type(""), {}, []],
  [type("pc-i440fx-9.0"), { configuration: { emulatedMachines: ["pc-*"] } }, []],
  [type("q35"), { configuration: { emulatedMachines: ["pc-*"] } }, refused],
  [
    type("mine"),
    { configuration: { architectureConfiguration: { amd64: { emulatedMachines: ["mine"] } } } },
    [],
  ],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});

const acpi = (tables: Change): Change => ({
  domain: {
    firmware: { acpi: tables },
    devices: { disks: [{ name: "root" }, { name: "secret" }] },
  },
  volumes: [
    { name: "root", containerDisk: { image: "i" } },
    { name: "secret", secret: { secretName: "s" } },
  ],
});

test.each<[Change, string[]]>([
  [acpi({ slicNameRef: "secret", msdmNameRef: "secret" }), []],
  [acpi({}), ["Invalid spec.acpi"]],
  [acpi({ slicNameRef: "none" }), ["Invalid spec.acpi.slicNameRef"]],
  [acpi({ msdmNameRef: "root" }), ["Invalid spec.acpi.msdmNameRef"]],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});
