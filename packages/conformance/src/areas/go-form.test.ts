import { VirtualMachineInstanceSpecSchema as schema } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { readAsGo, writeAsGo } from "./go-form.ts";

test("fields are read whatever their case", () => {
  const read = readAsGo({ domain: { cpu: { dedicatedCPUPlacement: true }, Devices: {} } }, schema);
  expect(read).toEqual({ domain: { cpu: { dedicatedCpuPlacement: true }, devices: {} } });
});

test("structs are always written, empty values and unknown fields never", () => {
  expect(
    writeAsGo({ domain: { cpu: { cores: 0 } }, volumes: [], hostname: "", odd: 1 }, schema),
  ).toEqual({
    domain: { cpu: {}, resources: {}, devices: {} },
  });
  expect(
    writeAsGo({ domain: { devices: { inputs: [{ name: "i" }] }, features: {} } }, schema),
  ).toEqual({
    domain: {
      devices: { inputs: [{ name: "i", type: "" }] },
      features: { acpi: {} },
      resources: {},
    },
  });
});

test("a null in a map is the zero of its kind, and a required pointer may be null", () => {
  const domain = {
    devices: { filesystems: [{ name: "f" }] },
    resources: { requests: { a: null } },
  };
  expect(writeAsGo({ domain }, schema)).toEqual({
    domain: {
      devices: { filesystems: [{ name: "f", virtiofs: null }] },
      resources: { requests: { a: "0" } },
    },
  });
});

test("a missing port is port 0", () => {
  const livenessProbe = { tcpSocket: {} };
  expect(writeAsGo({ domain: {}, livenessProbe }, schema)).toMatchObject({
    livenessProbe: { tcpSocket: { port: 0 } },
  });
});
