import { expect, test } from "vitest";
import type { AssignedHostDevice } from "../context.ts";
import { domainWith } from "../testing/conversion.ts";

function device(name: string, more: Partial<AssignedHostDevice> = {}): AssignedHostDevice {
  return {
    Type: "pci",
    Managed: "no",
    Source: { Address: { Type: "pci", Bus: "0x81", Slot: "" } },
    Alias: { Name: name, UserDefined: true },
    ...more,
  };
}

test("assigned devices are in order: generic, GPUs, network functions", () => {
  const { hostDevices } = domainWith({
    context: {
      sriovDevices: [device("c")],
      gpuHostDevices: [device("b")],
      genericHostDevices: [device("a")],
    },
  }).devices;
  expect(hostDevices.map(({ alias }) => alias?.name)).toEqual(["ua-a", "ua-b", "ua-c"]);
});

test("leaves out what is empty", () => {
  const [found] = domainWith({
    context: {
      genericHostDevices: [
        device("a", {
          Display: "on",
          RamFB: "",
          Mode: "",
          BootOrder: { Order: 2 },
          Driver: { Iommufd: "yes" },
        }),
      ],
    },
  }).devices.hostDevices;
  expect(found).toEqual({
    type: "pci",
    managed: "no",
    display: "on",
    driver: { iommufd: "yes" },
    source: { address: { type: "pci", bus: "0x81" } },
    boot: { order: 2 },
    alias: { name: "ua-a" },
  });
});
